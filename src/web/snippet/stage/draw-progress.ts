import type { MaybeTheme } from '../../../core/flow/merged-theme.ts'
import type { StepView } from '../parts.ts'
import { make } from './make.ts'
import type { Words } from './words.ts'

/** More dots than this have to be counted, and cannot be taken in at a glance. */
const maxDots = 8

/** How far the tour has come; null if it has only one step, or the theme wants none. */
export function progressOf(
  { place, of }: StepView,
  theme: MaybeTheme,
  words: Words,
  page: Window,
): HTMLElement | null {
  const kind = theme?.progress ?? (of > maxDots ? 'words' : 'dots')
  if (of < 2 || kind === 'none') return null
  const text = words.of(place, of)
  if (kind === 'words') return make(page, 'span', 'place', { part: 'progress' }, text)
  const seen = make(page, 'span', kind, { 'aria-hidden': 'true' })
  if (kind === 'bar') seen.style.setProperty('--part', `${place / of}`)
  else {
    for (let at = 1; at <= of; at++) seen.append(make(page, 'i', stateOf(at, place)))
  }
  // Its words are for screen readers, and for whoever searches the page for them.
  const heard = make(page, 'span', 'unseen', {}, text)
  return make(page, 'span', `place as-${kind}`, { part: 'progress', title: text }, seen, heard)
}

const stateOf = (at: number, place: number) => (at === place ? 'now' : at < place ? 'past' : '')
