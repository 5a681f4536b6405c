import { focusedIn } from '../../../../snippet/stage/elements.ts'

/**
 * On a visitor's page a step takes the focus and keeps Tab to itself. In a preview it may do neither:
 * somebody may be typing the very text that it shows, and anybody in the frame has to get out again.
 */
export function leaveKeyboardAlone(): void {
  const { focus } = HTMLElement.prototype
  HTMLElement.prototype.focus = function (options) {
    if (document.hasFocus()) focus.call(this, options)
  }
  // A dialog takes the focus by itself, too, but not while it is inert.
  const { showModal } = HTMLDialogElement.prototype
  HTMLDialogElement.prototype.showModal = function () {
    this.inert = !document.hasFocus()
    showModal.call(this)
    this.inert = false
  }
  // Runs before the snippet sees the key, so that the browser decides where Tab leads.
  const tab = (event: KeyboardEvent) => {
    if (event.key === 'Tab') event.stopImmediatePropagation()
  }
  addEventListener('keydown', tab, true)
  // Nor does it bring the focus back.
  addEventListener('focusin', event => event.stopImmediatePropagation(), true)
}

/** A closing dialog gives the focus back. While the keyboard is not in this frame, nothing here may have it. */
export function letGoOfFocus(): void {
  if (document.hasFocus()) return
  const focused = focusedIn(document)
  if (focused instanceof HTMLElement && focused !== document.body) focused.blur()
}
