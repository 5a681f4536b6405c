/** The builder's styles, in a shadow root of its own, so that the page's policy and styles do not matter. */
export const styles = `
.builder {
  all: unset; position: fixed; inset: 0; width: auto; height: auto; margin: 0; padding: 0; border: 0; background: none; overflow: visible;
  pointer-events: none; color: #e6edf3; font: 14px/1.45 system-ui, sans-serif; color-scheme: dark; text-align: start;
  --ground: #1c2128; --raised: #2d333b; --line: #444c56; --soft: #adbac7; --accent: #316dca;
}
.builder:not(:popover-open) { display: none }
.bar, .builder .panel { pointer-events: auto; background: var(--ground); border: 1px solid var(--line); box-shadow: 0 12px 40px rgb(0 0 0 / .35) }
.bar { position: fixed; inset-inline: 16px; inset-block-end: 16px; max-width: 1200px; margin-inline: auto; border-radius: 12px; display: grid; gap: 8px; padding: 10px 12px }
.bar.picking { display: flex; align-items: center; gap: 8px; width: max-content; max-width: calc(100vw - 32px); padding-inline-start: 16px }
.about { display: flex; align-items: center; gap: 10px; min-width: 0 }
.about .product { margin: 0 }
.state { flex: 1; min-width: 0; color: var(--soft); font-size: 13px }
.state.bad { color: #ffb4ab }
.tools { display: flex; gap: 4px; align-items: center }
.builder :is(button, a) { display: inline-flex; align-items: center; gap: 6px; min-height: 36px; white-space: nowrap }
.builder a { color: inherit; text-decoration: none; border-radius: 7px } .builder a:hover { background: #373e47 }
.builder button:disabled { opacity: .45; cursor: default; background: none }
.builder .icon { justify-content: center; min-width: 36px; color: var(--soft) }
.icon-drawing { width: 16px; height: 16px; flex: none }
.plain { border: 1px solid var(--line); background: var(--raised); padding: 4px 12px }
.plain[aria-pressed=true], .primary { background: var(--accent); border-color: var(--accent); color: #fff; font-weight: 600; padding: 4px 12px }
.strip { list-style: none; display: flex; gap: 6px; padding: 2px; margin: -2px; overflow-x: auto; scrollbar-width: thin }
.strip li { all: unset; flex: none; display: block; position: relative }
.drop-before::before, .drop-after::after { content: ''; position: absolute; inset-block: 2px; width: 3px; border-radius: 2px; background: #6cb6ff }
.drop-before::before { inset-inline-start: -5px } .drop-after::after { inset-inline-end: -5px }
.chip { max-width: 220px; user-select: none; -webkit-touch-callout: none; border: 1px solid var(--line); background: var(--raised); padding: 4px 12px 4px 8px }
.chip bdi { overflow: hidden; text-overflow: ellipsis }
.chip[aria-current] { background: var(--accent); border-color: var(--accent); color: #fff; font-weight: 600 }
.chip.lifted { cursor: grabbing; box-shadow: 0 6px 18px rgb(0 0 0 / .5) } .strip li:has(.lifted) { z-index: 1 }
.chip.add { border-style: dashed; background: none; padding-inline: 12px }
.number { font: 600 12px/20px system-ui, sans-serif; min-width: 20px; text-align: center; border-radius: 10px; background: rgb(255 255 255 / .14) }
.builder .panel {
  inset-block: 16px 132px; inset-inline-end: 16px; width: min(340px, calc(100vw - 32px)); max-height: none; height: max-content;
  max-height: calc(100dvh - 148px); padding: 12px 16px 16px; gap: 12px; z-index: auto; align-content: start;
}
.builder.other .panel { inset-inline: 16px auto }
.on-top .bar { inset-block: 16px auto }
.builder.on-top .panel { inset-block: 132px auto }
.builder .panel header { gap: 2px; position: sticky; inset-block-start: -12px; background: var(--ground); margin-block: -4px; z-index: 1 }
.builder h2 { margin-inline-end: auto; overflow-wrap: anywhere }
.fields { display: grid; gap: 14px }
.field { display: grid; gap: 4px; min-width: 0 }
.field label, legend { font-size: 12px; font-weight: 600; color: var(--soft); padding: 0 }
legend { font-size: 13px; color: #fff }
fieldset > button { justify-self: start }
fieldset { border: 0; border-block-start: 1px solid var(--line); padding: 12px 0 0; display: grid; gap: 8px; min-width: 0 }
fieldset legend { float: inline-start; width: 100% }
.builder :is(input:not([type=radio], [type=checkbox]), textarea, select) {
  font: inherit; color: #fff; background: #12161b; border: 1px solid #636e7b; border-radius: 7px; padding: 7px 10px; width: 100%; min-height: 36px;
}
.builder textarea { resize: vertical; min-height: 84px }
.builder :is(input, textarea, select, button, a):focus-visible { outline: 2px solid #6cb6ff; outline-offset: 1px }
.builder ::placeholder { color: #8b97a4 }
.hint { color: var(--soft); font-size: 12px }
.builder .marks { display: flex; gap: 2px; border: 0; padding: 0 }
.mark-B { font-weight: 800 } .mark-I { font-style: italic; font-family: Georgia, serif }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 8px }
.row { display: grid; grid-template-columns: 1fr auto; gap: 4px; align-items: end }
.row .pair { grid-template-columns: 2fr 3fr }
.row > .field:nth-child(2):not(:last-child) { grid-row: 2 }
.element { display: flex; flex-wrap: wrap; gap: 8px; align-items: center }
.element code { flex: 1 0 100%; color: var(--soft); overflow-wrap: anywhere }
.check, .candidate { display: flex; gap: 8px; align-items: baseline; min-height: 36px }
.candidate { padding: 8px 10px; border-radius: 8px; background: #22272e }
.candidate > span { display: grid; gap: 4px; min-width: 0 }
.end { display: flex; flex-wrap: wrap; gap: 8px; justify-content: end }
@media (pointer: coarse) { .bar .hint { display: none } }
@media (forced-colors: active) { .bar, .builder .panel, .builder :is(button, a) { border: 1px solid } }
@media print { .builder { display: none } }
@media (max-width: 640px) {
  .bar { inset-inline: 8px; inset-block-end: 8px; padding: 8px }
  .on-top .bar { inset-block: 8px auto }
  .bar.picking { max-width: none; flex-wrap: wrap; width: auto } .bar.picking .state { flex-basis: 100% }
  .builder :is(button, a), .builder :is(input:not([type=radio], [type=checkbox]), select) { min-height: 44px; min-width: 44px }
  .about { flex-wrap: wrap; row-gap: 2px } .about .state { order: 5; flex-basis: 100% } .tools { margin-inline-start: auto }
  .wide-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .builder .panel, .builder.other .panel { inset-inline: 8px; width: auto; max-height: 45dvh }
  .builder .panel { inset-block: auto 152px } .builder.other .panel { inset-block: 8px auto }
  .builder.on-top .panel { inset-block: auto 8px } .builder.on-top.other .panel { inset-block: 152px auto }
  .panel .icon-move { rotate: 90deg }
  .pair { grid-template-columns: 1fr } .row .pair { grid-template-columns: 2fr 3fr }
}
`
