import type { Cairn } from '../snippet/parts.ts'

/** Stands in for `window.cairn` while an author works on the page, and keeps the page's calls until then. */
export interface Held extends Partial<Cairn> {
  q?: [name: keyof Cairn, ...args: never[]][]
  isHeld?: boolean
}

/** Calls that would be counted. */
const counted: readonly (keyof Cairn)[] = ['track', 'start', 'stop']

/** Drops kept calls that would be counted: they came while nobody was visiting. */
export function dropCounted(held: Held): void {
  if (held.isHeld) held.q = held.q?.filter(([name]) => !counted.includes(name)) ?? []
}
