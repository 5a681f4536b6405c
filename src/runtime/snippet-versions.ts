import { mkdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { attempt } from '../core/attempt.ts'
import { replaceSynced } from '../storage/sqlite/database/synced-files.ts'
import { snippetFiles } from '../web/snippet-files.ts'

/** The only names that are ever looked up: those that a release gives its files. */
const names = 'author|headless|inspection|preview|question|renderer|timing|video'
const fileName = new RegExp(`^snippet-(?:(?:${names})-)?[0-9a-f]{16}\\.js$`)

const folderIn = (dataDir: string) => join(dataDir, 'snippet')

/**
 * Writes this release's snippet into the data directory, where it outlives an upgrade: a page that
 * names a version by its hash goes on getting just that one.
 *
 * @throws what the file system throws
 */
export function keepSnippet(dataDir: string): void {
  const folder = folderIn(dataDir)
  mkdirSync(folder, { recursive: true })
  for (const { name, text } of snippetFiles) {
    const file = join(folder, name)
    // Whole or not at all: after an upgrade nothing could mend it.
    if (textIn(file) !== text) replaceSynced(file, text)
  }
}

const textIn = (file: string) => attempt(() => readFileSync(file, 'utf8'), null)

/** A file that an older release has left there, or null. */
export async function keptSnippetFile(dataDir: string, name: string): Promise<string | null> {
  if (!fileName.test(name)) return null
  return readFile(join(folderIn(dataDir), name), 'utf8').catch(() => null)
}
