import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Builds executables of this source with changes, such as the next release's, with the script for releases. */

const root = join(import.meta.dir, '../..')

/** Everything that the script reads. */
const sources = [
  ...['src', 'scripts', 'package.json', 'bun.lock', 'bunfig.toml'],
  ...['CHANGELOG.md', 'LICENSE', 'tsconfig.json'],
]

/** A replacement in a file of the source. */
export interface Edit {
  file: string
  before: string | RegExp
  after: string
}

/**
 * Builds an executable.
 *
 * @param folder takes the source and what is built; the caller deletes it
 * @param commit by which its version differs from others
 * @returns its path
 */
export async function otherBuild(
  folder: string,
  edits: readonly Edit[],
  commit = 'other',
): Promise<string> {
  const filter = (path: string) => !path.includes('node_modules')
  for (const name of sources) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const { file, before, after } of edits) {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8')
    const edited = text.replace(before, () => after)
    if (edited === text) throw new Error(`${file} does not say ${before}`)
    writeFileSync(path, edited)
  }
  await Bun.$`${process.execPath} scripts/build.ts --commit ${commit}`.cwd(folder).quiet()
  return join(folder, 'dist/cairn')
}

/** Makes a release know one more step of the schema than this one. */
export const withStep = (sql: string): Edit => ({
  file: 'src/storage/sqlite/database/migrate.ts',
  before: /(?<=const steps: readonly string\[\] = \[[^\]]*)\]/,
  after: `, ${JSON.stringify(sql)}]`,
})
