import { closeSync, openSync } from 'node:fs'

interface Options {
  cwd?: string
  env?: Record<string, string>
  stdin?: Buffer
  /** A file for its output, from both streams. Without one, the output is discarded. */
  log?: string
}

const isLinux = process.platform === 'linux'

/**
 * Starts a process that Ctrl-C does not reach, so that it can be stopped in its turn. It ends with this
 * process, even if this one is killed.
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
