import type { LiveState } from '../../shared/live-state.ts'
import type { Caused } from '../people/caused-events.ts'
import { SeenPeople } from '../people/people-table.ts'
import { JoinedFacts } from './joined-facts.ts'

/** Where is shown how much is behind, and whose progress has changed. */
export interface FollowerState extends Pick<LiveState, 'lag' | 'progress'> {
  /** Epoch milliseconds. */
  now: () => number
}

/** What is committed and waits to be projected. */
export class PendingFacts {
  readonly facts = new JoinedFacts()
  readonly caused: Caused[] = []
  readonly people = new SeenPeople()

  /** @param since when the first of it was committed, epoch milliseconds */
  constructor(readonly since: number) {}

  /** How many events, or people if those are more: other events only say who was there. */
  get count(): number {
    return Math.max(this.facts.count + this.caused.length, this.people.count)
  }
}
