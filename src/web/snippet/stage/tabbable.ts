import { around, ownHostAttribute } from './elements.ts'

const focusable =
  'a[href], area[href], button, input, select, textarea, iframe, audio[controls], video[controls], ' +
  'details > summary:first-of-type, [contenteditable]:not([contenteditable=false]), [tabindex]'

/** An element's children as they are rendered: those of its shadow root, and those that a slot shows. */
function childrenOf(element: Element): Iterable<Element> {
  const slotted = (element as HTMLSlotElement).assignedElements?.() ?? []
  return slotted.length > 0 ? slotted : (element.shadowRoot ?? element).children
}

function* within(element: Element): Generator<Element> {
  if (element.hasAttribute(ownHostAttribute)) return
  yield element
  for (const child of childrenOf(element)) yield* within(child)
}

const indexOf = (element: Element) => Number.parseInt(element.getAttribute('tabindex') ?? '0', 10)

function isTabbable(element: Element): element is HTMLElement {
  if (!element.matches(focusable) || element.matches(':disabled, [type=hidden]')) return false
  if (indexOf(element) < 0 || element.shadowRoot?.delegatesFocus) return false
  for (let at: Element | null = element; at; at = around(at))
    if (at.hasAttribute('inert')) return false
  return element.checkVisibility({ visibilityProperty: true })
}

/** In a group of radio buttons, Tab comes only to the chosen one, or to the first. */
function isChosen(control: HTMLElement, _: number, all: readonly HTMLElement[]): boolean {
  const { name, form } = control as HTMLInputElement
  if (!control.matches('[type=radio]') || !name) return true
  const group = (all as HTMLInputElement[]).filter(
    one => one.matches('[type=radio]') && one.name === name && one.form === form,
  )
  return control === (group.find(one => one.checked) ?? group[0])
}

/** What Tab comes to in an element, itself included, in its order. */
export function tabbableIn(element: Element): HTMLElement[] {
  const all = [...within(element)].filter(isTabbable).filter(isChosen)
  const place = (one: Element) => indexOf(one) || Infinity
  return all.sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)))
}

/** Whether Tab comes to an element before all that have no `tabindex`. */
export const isOutOfOrder = (element: Element): boolean => indexOf(element) > 0

/** Whether Tab has several stops inside of an element, which only the browser knows. */
export const hasInnerStops = (element: Element): boolean =>
  element.matches(
    'audio, video, iframe, [type=date], [type=time], [type=datetime-local], [type=month], [type=week]',
  )
