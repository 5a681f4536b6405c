import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { attempt } from '../core/attempt.ts'
import { makeInnerDirectory, replaceSynced } from '../storage/sqlite/database/synced-files.ts'
import { snippetFiles } from '../web/snippet-files.ts'

/** The only names that are ever looked up: those that a release gives its files. */
const names = 'author|headless|highlight|inspection|launcher|preview|question|renderer|timing|video'
const fileName = new RegExp(`^snippet-(?:(?:${names})-)?[0-9a-f]{16}\\.js$`)

const folderIn = (dataDir: string) => join(dataDir, 'snippet')

/**
 * Writes this release's snippet into the data directory, where it survives an upgrade: a page that names a
 * version by its hash keeps getting exactly that one.
 *
 * @throws what the file system throws
 */
export function keepSnippet(dataDir: string): void {
  const folder = folderIn(dataDir)
  makeInnerDirectory(folder)
  for (const { name, text } of snippetFiles) {
    const file = join(folder, name)
    // Whole or not at all, because after an upgrade nothing could repair it.
    if (textIn(file) !== text) replaceSynced(file, text)
  }
}

const textIn = (file: string) => attempt(() => readFileSync(file, 'utf8'), null)

/** The name under which machines share a file. */
const sharedName = (name: string) => `snippet/${name}`

/**
 * The same for all machines that follow one log, because a page's request for a file may reach another one than the
 * one that named it.
 */
export async function shareSnippet(
  share: (name: string, text: string) => Promise<string>,
): Promise<void> {
  for (const { name, text } of snippetFiles) await share(sharedName(name), text)
}

/**
 * A file that an older release has left there, or that another machine has; else null.
 *
 * @param sharedFile finds a file that machines share
 */
export async function keptSnippetFile(
  dataDir: string,
  sharedFile: (name: string) => string | null,
  name: string,
): Promise<string | null> {
  if (!fileName.test(name)) return null
  const own = await readFile(join(folderIn(dataDir), name), 'utf8').catch(() => null)
  return own ?? sharedFile(sharedName(name))
}
