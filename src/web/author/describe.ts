import { fingerprintOf } from '../snippet/stage/fingerprint.ts'
import { words } from './words.ts'

const longest = 80

/** An element in a few words, as people would call it. */
export function describe(element: Element): string {
  if (element.matches('iframe, frame')) return words.frame
  const { role, name, tag = '', id } = fingerprintOf(element)
  const what = role ?? tag
  if (name) return `${what} “${name}”`.slice(0, longest)
  if (id) return `${what} #${id}`.slice(0, longest)
  const [first] = element.classList
  return (first === undefined ? what : `${what} .${first}`).slice(0, longest)
}
