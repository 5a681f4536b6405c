import { safely } from '../../snippet/safely.ts'
import { stageRoot } from './stage-root.ts'

/** What the builder adds to the looks of a step: where it can be written on, and that it can be dragged. */
const styles = `
.card [part=title], .card [part=body] { border-radius: 4px; cursor: text }
.card :is([part=title], [part=body], .actions .button):hover { outline: 1px dashed var(--faint); outline-offset: 3px }
.card :is([part=title], [part=body], .actions .button):focus, .card textarea:focus { outline: 2px solid var(--text); outline-offset: 3px }
.card [part=body]:has(textarea) { outline: none !important }
.card .actions span.button { min-width: 44px; cursor: text; white-space: pre }
[part=title]:empty::before { content: attr(data-absent) }
[part=title]:empty::before, [part=body].absent { color: var(--faint); font-weight: 400; font-style: italic }
.writing { display: grid; gap: 6px; padding-block-end: 6px }
.writing textarea {
  all: unset; display: block; box-sizing: border-box; width: 100%; min-height: 1.55em; white-space: pre-wrap; overflow-wrap: anywhere;
  overflow: hidden; cursor: text; font-style: normal; color: var(--text); border-radius: 4px;
}
.marks { all: unset; display: flex; gap: 2px; margin: 0 -6px; font-style: normal; color: var(--text) }
.marks button { display: grid; place-items: center; min-width: 32px; min-height: 32px; border: 0; background: none; border-radius: 6px }
.marks button:hover { background: color-mix(in srgb, var(--text) 10%, transparent) }
.marks .mark-B { font-weight: 800 } .marks .mark-I { font-style: italic; font-family: Georgia, serif }
.marks svg { width: 16px; height: 16px }
@media (pointer: coarse) { .marks button { min-width: 44px; min-height: 44px } }
.movable { cursor: grab } .movable.dragged { cursor: grabbing; animation: none; transition: none }
.movable, .movable .inner { touch-action: none }
.movable.long .inner { touch-action: pan-y }
`

let sheet: CSSStyleSheet | null = null

/** Gives the styles to the stage, which the page's own styles do not reach. */
export function styleStage(): void {
  const root = stageRoot()
  if (!root) return
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(styles)
  }
  const own = sheet
  if (!root.adoptedStyleSheets.includes(own)) safely(() => root.adoptedStyleSheets.push(own))
}

/** Takes them away. */
export function unstyleStage(): void {
  const root = stageRoot()
  if (root) root.adoptedStyleSheets = root.adoptedStyleSheets.filter(one => one !== sheet)
}
