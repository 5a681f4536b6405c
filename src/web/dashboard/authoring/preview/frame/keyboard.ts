import { focusedIn } from '../../../../snippet/stage/elements.ts'

/**
 * On a visitor's page a step takes the keyboard, and keeps Tab to itself. In a preview it may do neither:
 * somebody is typing the very text that it shows, and whoever has come into the frame has to get out.
 */
export function leaveKeyboardAlone(): void {
  const { focus } = HTMLElement.prototype
  HTMLElement.prototype.focus = function (options) {
    if (document.hasFocus()) focus.call(this, options)
  }
  // By itself a dialog takes the focus too; one that is inert cannot.
  const { showModal } = HTMLDialogElement.prototype
  HTMLDialogElement.prototype.showModal = function () {
    this.inert = !document.hasFocus()
    showModal.call(this)
    this.inert = false
  }
  // Before the snippet hears of it; where it leads is then the browser's matter.
  const tab = (event: KeyboardEvent) => {
    if (event.key === 'Tab') event.stopImmediatePropagation()
  }
  addEventListener('keydown', tab, true)
}

/** A dialog that is closed gives the focus back to what had it: what the keyboard is not in has none. */
export function letGoOfFocus(): void {
  if (document.hasFocus()) return
  const focused = focusedIn(document)
  if (focused instanceof HTMLElement && focused !== document.body) focused.blur()
}
