import { hash32 } from '../number/hash32.ts'
import type { Rollout } from './timing.ts'

/** A text's place among all texts, from 0 to below 1. */
const placeOf = (text: string): number => hash32(text) / 2 ** 32

/**
 * Whether a person is among those for whom a flow is: by their place, which is another in each flow, and
 * another for the hold-out. Who is in stays in where the percentage grows, and who is held back stays so.
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
