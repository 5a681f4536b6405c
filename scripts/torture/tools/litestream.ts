import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Litestream's program: the one from npm, which `run --only litestream` installs, or the one on the PATH. */
export function litestreamProgram(): string | null {
  const installed = join(import.meta.dir, 'node_modules/@flydotio/litestream-linux-x64/litestream')
  return existsSync(installed) ? installed : Bun.which('litestream')
}
