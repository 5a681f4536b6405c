import { EditorView } from '@codemirror/view'

/**
 * Lets the editor itself type over a selection. If the browser does it, it puts the colour of the
 * selected text into a style attribute, which the page's policy refuses and reports.
 */
export const typingOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data, isComposing } = event
    const { main, ranges } = view.state.selection
    const isPlain = inputType === 'insertText' && !isComposing && !view.composing
    if (!isPlain || !data || main.empty || ranges.length > 1 || view.state.readOnly) return false
    const { from, to } = main
    const typed = () =>
      view.state.update(view.state.replaceSelection(data), {
        userEvent: 'input.type',
        scrollIntoView: true,
      })
    const handlers = view.state.facet(EditorView.inputHandler)
    if (!handlers.some(handle => handle(view, from, to, data, typed))) view.dispatch(typed())
    event.preventDefault()
    return true
  },
})
