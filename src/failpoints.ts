import { ConfigError } from './config/read-config.ts'

/** The points at which tests make a program fail, and what the program does there. */
export const failpoints = {
  storage_start: 'storage is about to be opened',
  http_request: 'a request is about to hand a write over to storage',
  before_begin: 'storage is about to begin a transaction',
  between_rows:
    'in a transaction the events are stored, and what else their request reports is not',
  before_commit: 'in a transaction all is done but the commit',
  before_log_commit:
    'a group is written to the log of several machines, and not yet committed there',
  before_sync: 'transactions are committed, and about to be synced',
  after_commit: 'a transaction is committed, and no response has been sent',
  before_projection: 'events are acknowledged, and what follows from them is about to be written',
  during_projection: 'in a transaction some of what follows from events is written',
  during_replay: 'at a start the ledger is read whose events are not projected yet',
  during_checkpoint: 'at a stop the log is written back into the database, and not yet emptied',
  migration_step: 'in the transaction that changes the tables of an older release',
  during_erasure: 'at a start people are erased, and the database is not written anew yet',
  during_publish: 'flows are published, and not yet committed',
} as const

export type Failpoint = keyof typeof failpoints

/** `<action>`, `@<pass>` of the first time, `*<times>`. */
const grammar = /^(exit|error|full|hang|stall|delay:(\d{1,6}))(?:@(\d{1,9}))?(?:\*(\d{1,9}))?$/

/** The only point whose work another thread does, so that it can stall while this one continues. */
const stallPoint: Failpoint = 'before_sync'

/** What is armed in this thread. Returns whether the work stalls. */
let armed: ReadonlyMap<string, () => boolean> = new Map()

/**
 * Arms in this thread what `CAIRN_FAILPOINTS` says, and nothing else: `name=action,…`, with the actions
 * `exit` (the thread, or the command, ends at once), `error` (an error is thrown), `full` (the error of a
 * full disk), `delay:<milliseconds>` (the thread stands still, as with a slow disk), `hang` (it never
 * turns again) and, at `before_sync` alone, `stall` (the sync never ends, and the thread continues, as with a
 * disk that hangs). `before_commit=error@20*3` acts at the 20th, 21st and 22nd pass of a thread; without `@`
 * it acts from the first pass on, without `*` forever.
 *
 * @throws ConfigError if there is no such point or action, so that no test passes because of a typing error
 */
export function armFailpoints(variable = ''): void {
  const entries = variable.split(',').filter(entry => entry !== '')
  armed = new Map(
    entries.map(entry => {
      const [name = '', action = ''] = entry.split('=', 2)
      const found = Object.hasOwn(failpoints, name) ? grammar.exec(action) : null
      const isPossible = found?.[1] !== 'stall' || name === stallPoint
      if (found && isPossible) return [name, acting(name, found)]
      const names = Object.keys(failpoints).join(', ')
      throw new ConfigError([
        `CAIRN_FAILPOINTS: "${entry}" is not <point>=<action>[@<pass>][*<times>], with a point of ${names} and an action of exit, error, full, hang, delay:<milliseconds> (at ${stallPoint} also stall)`,
      ])
    }),
  )
}

/** Called where a thread passes a point; does nothing unless that is armed. */
export const failpoint = (name: Failpoint): void => {
  armed.get(name)?.()
}

/**
 * Makes work fail first if the point is already armed in this thread; otherwise returns the work itself. So
 * what every request and every commit passes is decorated where it is made, and costs nothing. Work that
 * stalls is not begun: it calls nobody back.
 */
export function failing<Args extends readonly unknown[], Result>(
  name: Failpoint,
  work: (...args: Args) => Result,
): (...args: Args) => Result {
  const fail = armed.get(name)
  if (!fail) return work
  return (...args) => (fail() ? (undefined as Result) : work(...args))
}

function acting(name: string, found: RegExpExecArray): () => boolean {
  const [, action = '', delayMs, first = 1, times = Number.POSITIVE_INFINITY] = found
  let passes = 0
  return () => {
    passes++
    const isDue = passes >= Number(first) && passes < Number(first) + Number(times)
    if (isDue) fail(name, action, Number(delayMs))
    return isDue && action === 'stall'
  }
}

function fail(name: string, action: string, delayMs: number): void {
  if (action === 'exit') process.exit(70)
  if (action === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (action === 'full') {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  }
  if (action === 'error') throw new Error(`Failpoint ${name}`)
  if (action !== 'stall') Bun.sleepSync(delayMs)
}
