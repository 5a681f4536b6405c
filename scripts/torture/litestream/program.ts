import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Litestream's program as npm has it, where it is there already or on the PATH; else null. */
export function litestreamProgram(): string | null {
  const brought = join(import.meta.dir, 'node_modules/@flydotio/litestream-linux-x64/litestream')
  return existsSync(brought) ? brought : Bun.which('litestream')
}

/**
 * Brings it, once, pinned by the lock file beside this: 12 MB, which only this needs.
 *
 * @throws Error where there is none for this machine
 */
export function bringLitestream(): string {
  if (litestreamProgram() === null && process.platform === 'linux' && process.arch === 'x64') {
    Bun.spawnSync([process.execPath, 'install', '--frozen-lockfile', '--ignore-scripts'], {
      cwd: import.meta.dir,
    })
  }
  const program = litestreamProgram()
  if (program === null) throw new Error('install Litestream (https://litestream.io) on the PATH')
  return program
}
