/**
 * Places where a test can make a running server fail: `CAIRN_FAILPOINTS=name=action,…`, with the
 * actions `exit` (the thread ends at once), `error` (an error is thrown), `full`
 * (the error of a full disk), `delay:<milliseconds>` (the thread stands still, as by a slow disk) and
 * `hang` (the thread never turns again). Off unless that variable is set; a thread that is started
 * again starts without.
 */
export type Failpoint = 'http_request' | 'storage_start' | 'before_commit' | 'migration_step'

export type ArmedFailpoints = Partial<Record<string, string>>

/** What the variable arms. */
export function armedFailpoints(variable: string | undefined): ArmedFailpoints {
  return Object.fromEntries((variable ?? '').split(',').map(entry => entry.split('=', 2)))
}

/** Fails here, if armed. */
export function failAt(armed: ArmedFailpoints, name: Failpoint): void {
  const action = armed[name]
  if (action === undefined) return
  const delay = /^delay:(\d+)$/.exec(action)
  if (delay) Bun.sleepSync(Number(delay[1]))
  if (action === 'exit') process.exit(70)
  if (action === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (action === 'full') {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  }
  if (action === 'error') throw new Error(`Failpoint ${name}`)
}
