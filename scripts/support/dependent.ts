import { closeSync, openSync } from 'node:fs'

interface Options {
  cwd?: string
  env?: Record<string, string>
  stdin?: Buffer
  /** A file that takes what it says, on whichever stream; nobody does unless named. */
  log?: string
}

const isLinux = process.platform === 'linux'

/**
 * Begins a process that Ctrl-C does not reach, so that it can be stopped in its turn, and that ends with
 * this one even where this one is killed.
 */
export function dependent(command: readonly string[], { log, ...options }: Options = {}) {
  const tied = isLinux ? ['setpriv', '--pdeathsig', 'TERM', ...command] : [...command]
  const out = log === undefined ? 'ignore' : openSync(log, 'a')
  try {
    return Bun.spawn(tied, { ...options, stdout: out, stderr: out, detached: true })
  } finally {
    if (out !== 'ignore') closeSync(out)
  }
}
