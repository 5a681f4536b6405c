import { setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import type { Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { FlowProblem } from '../form/form.ts'
import type { Schema } from './completion.ts'
import { yamlSetup } from './yaml-setup.ts'

/** A place for the cursor to go to; a new object each time. */
export interface GoTo {
  line: number
  column: number
  /** Whether the focus stays where it is. */
  isQuiet?: boolean
}

export interface YamlEditorProps {
  text: Signal<string>
  problems: readonly FlowProblem[]
  isReadOnly: boolean
  schema: Schema | null
  goTo: GoTo | null
  /** Called with the place of the cursor, in characters. */
  onCursor(offset: number): void
}

const offsetOf = ({ doc }: EditorState, line: number, column: number) => {
  const at = doc.line(Math.min(Math.max(1, line), doc.lines))
  return Math.min(at.from + column - 1, at.to)
}

/** Underlines each problem up to the end of its word. */
function diagnosticsOf(state: EditorState, problems: readonly FlowProblem[]) {
  return problems.flatMap(({ line, column, severity, message }) => {
    if (line === null) return []
    const from = offsetOf(state, line, column ?? 1)
    const rest = state.doc.lineAt(from).text.slice(from - state.doc.lineAt(from).from)
    return { from, to: from + (/^[^\s:,]+/.exec(rest)?.[0].length ?? 0), severity, message }
  })
}

/** Takes a text from elsewhere, such as the form or a merge, and replaces only the part that differs. */
function replace(view: EditorView, text: string): void {
  const now = view.state.doc.toString()
  if (now === text) return
  let start = 0
  while (start < now.length && now[start] === text[start]) start++
  let end = 0
  const most = Math.min(now.length, text.length) - start
  while (end < most && now[now.length - 1 - end] === text[text.length - 1 - end]) end++
  const insert = text.slice(start, text.length - end)
  view.dispatch({ changes: { from: start, to: now.length - end, insert } })
}

/**
 * An editor for YAML. It lives in a shadow root, where its styles are sheets made by script, because
 * the page's policy allows no style elements.
 */
export function YamlEditor(props: YamlEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const latest = useRef(props)
  latest.current = props
  const locking = useRef(new Compartment()).current
  const { text, problems, isReadOnly, goTo } = props

  const locked = (isLocked: boolean) => [
    EditorState.readOnly.of(isLocked),
    EditorView.contentAttributes.of({ 'aria-readonly': String(isLocked) }),
  ]

  useEffect(() => {
    const root = host.current!.attachShadow({ mode: 'open' })
    const listening = EditorView.updateListener.of(({ state, docChanged, selectionSet }) => {
      if (docChanged) text.value = state.doc.toString()
      if (docChanged || selectionSet) latest.current.onCursor(state.selection.main.head)
    })
    view.current = new EditorView({
      doc: text.peek(),
      parent: root,
      root,
      extensions: [
        yamlSetup(() => latest.current.schema),
        locking.of(locked(latest.current.isReadOnly)),
        listening,
        // An editable element can be focused anyway, but not every checker knows that.
        EditorView.contentAttributes.of({ 'aria-label': 'The flow, as YAML', tabindex: '0' }),
      ],
    })
    // Applied at once and not at the next render, which would undo what was typed since.
    const stop = text.subscribe(wanted => replace(view.current!, wanted))
    return () => {
      stop()
      view.current!.destroy()
    }
  }, [text])

  useEffect(() => {
    view.current!.dispatch({ effects: locking.reconfigure(locked(isReadOnly)) })
  }, [isReadOnly])

  useEffect(() => {
    const { state } = view.current!
    view.current!.dispatch(setDiagnostics(state, diagnosticsOf(state, problems)))
  }, [problems])

  useEffect(() => {
    if (!goTo) return
    const at = offsetOf(view.current!.state, goTo.line, goTo.column)
    view.current!.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: 'center' }),
    })
    if (!goTo.isQuiet) view.current!.focus()
  }, [goTo])

  return <div ref={host} class="yaml-editor framed" dir="ltr" />
}
