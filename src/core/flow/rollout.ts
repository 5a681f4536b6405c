import { hash32 } from '../number/hash32.ts'
import type { Rollout } from './timing.ts'

/** Maps a text to a place from 0 to below 1. */
const placeOf = (text: string): number => hash32(text) / 2 ** 32

/**
 * Whether a flow is for a person. This depends on their place, which differs from flow to flow, and again
 * for the hold-out. A person who is in stays in when the percentage grows, and a person who is held back
 * stays held back.
 *
 * @param person as `personOf` names them
 */
export function rolloutOf(
  { key, rollout }: { key: string; rollout?: Rollout },
  person: string,
): 'in' | 'out' | 'held_out' {
  if (!rollout) return 'in'
  const { percent, holdOut = 0 } = rollout
  if (placeOf(`${key}\n${person}`) * 100 >= percent) return 'out'
  return placeOf(`${key}\nhold-out\n${person}`) * 100 < holdOut ? 'held_out' : 'in'
}
