import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Litestream's program: the one from npm if it is installed, otherwise the one on the PATH, otherwise null. */
export function litestreamProgram(): string | null {
  const brought = join(import.meta.dir, 'node_modules/@flydotio/litestream-linux-x64/litestream')
  return existsSync(brought) ? brought : Bun.which('litestream')
}

/**
 * Installs it once, pinned by the lock file beside this one: 12 MB that only this part needs.
 *
 * @throws Error if there is none for this machine
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
