import { minuteMs } from '../time/durations.ts'

/** What there is to know of links by which a draft is looked at in the real page. */

/** How long a link works, minutes: at least, unless said, and at most. */
export const previewMinutes = { least: 15, usual: 30, most: 60 } as const

/** When a link ends that is made now. */
export const endOfPreview = (now: number, minutes: number): number => now + minutes * minuteMs

/** Links of one organisation that work at a time, and of all. */
export const mostPreviews = 20
export const mostPreviewsInAll = 400

/** What flows that are stored nowhere else may have in all, characters of JSON. */
export const mostPreviewedText = 32 * 1024 * 1024

/** The first release whose snippet knows previews; an older one ignores what stands in the address. */
export const previewsSince = '0.1.0'

/** A link's mark in the fragment of the page's address. */
export const previewMark = 'cairn-preview'

const numbersOf = (version: string) => /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)

/**
 * Whether a snippet of this version shows nothing of a preview. What is no version, as a snippet from
 * the sources says, is taken for new.
 */
export function knowsNoPreviews(version: string): boolean {
  const [seen, since] = [numbersOf(version), numbersOf(previewsSince)!]
  const at = seen?.findIndex((number, i) => number !== since[i]) ?? -1
  return at >= 0 && seen![at]! < since[at]!
}
