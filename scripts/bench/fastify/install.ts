import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Kept in dist, so that better-sqlite3 is built only once if there is no build of it to download. */
const installed = join(import.meta.dir, '../../../dist/bench-fastify')

const programs = ['package.json', 'server.js', 'sqlite.js', 'postgresql.js']

/**
 * Installs from npm what Fastify's programs need, as `package.json` pins it, and copies the programs there.
 *
 * @returns the folder with the programs
 * @throws Error if it cannot be installed
 */
export function installFastify(): string {
  const pins = join(installed, 'package.json')
  const wanted = readFileSync(join(import.meta.dir, 'package.json'), 'utf8')
  // npm writes this file last.
  const isThere =
    existsSync(join(installed, 'node_modules/.package-lock.json')) &&
    readFileSync(pins, 'utf8') === wanted
  for (const name of programs) cpSync(join(import.meta.dir, name), join(installed, name))
  if (isThere) return installed
  if (!Bun.which('npm') || !Bun.which('node')) throw new Error('there is no Node.js with npm')
  const { success, stderr } = Bun.spawnSync(['npm', 'install', '--no-package-lock', '--no-audit'], {
    cwd: installed,
  })
  if (!success) throw new Error(`npm could not install Fastify: ${stderr}`)
  return installed
}
