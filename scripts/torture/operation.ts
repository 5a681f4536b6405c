import type { SeededRandom } from '../../src/cli/demo/random.ts'
import type { Entry } from './ledger.ts'

/** Something under way that is to be killed. */
export interface Underway {
  child: Pick<Bun.Subprocess, 'kill' | 'exited'>
  /** Resolves when it is done, if nobody kills it. */
  done: Promise<unknown>
}

/** Something that may be interrupted at any moment. */
export interface Operation extends AsyncDisposable {
  what: string
  begin(): Promise<Underway>
  /** Goes on after the interruption, and says what is wrong; null if nothing is. */
  faultOf(): Promise<string | null>
}

/** Interrupts an operation so many times, each time at another moment. */
export async function interrupt(
  operation: Operation,
  count: number,
  random: SeededRandom,
): Promise<Entry> {
  const faults: string[] = []
  const look = async () => {
    const fault = await operation.faultOf()
    if (fault !== null) faults.push(fault)
  }
  // Once to its end, to know how long it takes.
  const whole = await operation.begin()
  const startedAt = performance.now()
  await whole.done.catch(() => {})
  const lastsMs = performance.now() - startedAt
  await end(whole)
  await look()
  for (let i = 0; i < count; i++) {
    const underway = await operation.begin()
    underway.done.catch(() => {})
    await Bun.sleep(random.between(0, lastsMs))
    await end(underway)
    await look()
  }
  return {
    what: `${operation.what} killed ${count} times in its ${Math.round(lastsMs)} ms, faults`,
    value: faults.length > 0 ? `${faults.length}: ${faults[0]}` : 0,
    isGood: faults.length === 0,
  }
}

async function end({ child, done }: Underway): Promise<void> {
  child.kill('SIGKILL')
  await child.exited
  await done.catch(() => {})
}
