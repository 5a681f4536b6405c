import { minuteMs } from '../time/durations.ts'

/** The rules for links that show a draft in the real page. */

/** How long a link works, in minutes: the least, the default and the most. */
export const previewMinutes = { least: 15, usual: 30, most: 60 } as const

/** When a link that is made now ends. */
export const endOfPreview = (now: number, minutes: number): number => now + minutes * minuteMs

/** The most working links of one organisation, and of all. */
export const maxPreviews = 20
export const maxPreviewsInAll = 400

/** The most characters of JSON of all previewed flows that are stored nowhere else. */
export const maxPreviewedText = 32 * 1024 * 1024

/** The first release whose snippet supports previews. Older ones ignore the link's mark in the address. */
export const previewsSince = '0.1.0'

/** A link's mark in the fragment of the page's address. */
export const previewMark = 'cairn-preview'

const numbersOf = (version: string) => /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)

/**
 * Whether a snippet of this version cannot show previews. A text that is not a version, as from a snippet
 * that runs from source, counts as new.
 */
export function knowsNoPreviews(version: string): boolean {
  const [seen, since] = [numbersOf(version), numbersOf(previewsSince)!]
  const at = seen?.findIndex((number, i) => number !== since[i]) ?? -1
  return at >= 0 && seen![at]! < since[at]!
}
