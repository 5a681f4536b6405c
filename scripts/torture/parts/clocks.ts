import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { Workplace } from '../../support/binary.ts'
import { changedDays } from '../clock/changed-days.ts'
import { FakeClock, fakeTimeLibrary } from '../clock/fake-time.ts'
import { leapSecond } from '../clock/leap-second.ts'
import { setWhileServing, setWhileStarting } from '../clock/set.ts'
import { type Entry, type Ledger, none, type Torture } from '../ledger.ts'

const title = 'Clocks'

/**
 * Sets the wall clock of the running executable: while it starts, by an hour either way, in a leap
 * second, and over days on which time zones change their clocks.
 */
export async function clocks({ isLong, seed }: Torture): Promise<Ledger> {
  const library = fakeTimeLibrary()
  if (library === null) {
    const value = 'there is no libfaketime on this machine (Debian: faketime)'
    return { title, entries: [{ what: 'not tried', value }] }
  }
  const stages = {
    'a clock set while the server starts: not ready, or limits inexact': setWhileStarting,
    'a clock set by an hour or a leap second: promises broken': setWhileServing,
    'a second told twice at the end of a year: events or days wrong': leapSecond,
    'days on which zones change their clocks: days wrong': changedDays,
  }
  const entries: Entry[] = []
  const notes: string[] = []
  for (const [what, stage] of Object.entries(stages)) {
    await using place = new Workplace()
    const clock = new FakeClock(library, place.folder)
    const random = new SeededRandom(`clocks ${seed}`)
    const found = await stage({ place, clock, random, isLong })
    entries.push(none(what, found.length))
    notes.push(...found.slice(0, 5))
  }
  return { title, entries, notes }
}
