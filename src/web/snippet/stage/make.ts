import { safely } from '../safely.ts'
import { cross, icon } from './icons.ts'

/** An element with a class, attributes and children. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  { document }: Window,
  name: Name,
  className: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  if (className) made.className = className
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children)
  return made
}

/** A button that never sends a form. */
export function button(
  page: Window,
  className: string,
  label: string,
  press: () => void,
): HTMLButtonElement {
  const made = make(page, 'button', className, { type: 'button' }, label)
  made.addEventListener('click', () => safely(press))
  return made
}

export function closeButton(page: Window, label: string, press: () => void): HTMLButtonElement {
  const made = button(page, 'close', '', press)
  made.append(icon(page, 'icon', cross))
  made.setAttribute('aria-label', label)
  made.setAttribute('part', 'close')
  return made
}
