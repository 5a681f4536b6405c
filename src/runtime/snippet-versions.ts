import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { attempt } from '../core/attempt.ts'
import type { Queries } from '../storage/postgres/database/connection.ts'
import { keepFileIfAbsent, keptFile } from '../storage/postgres/nodes/kept-files.ts'
import { makeInnerDirectory, replaceSynced } from '../storage/sqlite/database/synced-files.ts'
import { snippetFiles } from '../web/snippet-files.ts'

/** The only names that are ever looked up: those that a release gives its files. */
const names = 'author|headless|inspection|preview|question|renderer|timing|video'
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

/** The name under which nodes share a file. */
const keptName = (name: string) => `snippet/${name}`

/**
 * The same for all nodes, because a page's request for a file may reach another node than the one that named
 * it.
 */
export async function shareSnippet(postgres: Queries, now: number): Promise<void> {
  for (const { name, text } of snippetFiles) {
    await keepFileIfAbsent(postgres, {
      ...{ name: keptName(name), at: now },
      content: new TextEncoder().encode(text),
    })
  }
}

/**
 * A file that an older release has left there, or that another node has; else null.
 *
 * @param postgres the database that nodes share, if there is one
 */
export async function keptSnippetFile(
  dataDir: string,
  postgres: Queries | null,
  name: string,
): Promise<string | null> {
  if (!fileName.test(name)) return null
  const own = await readFile(join(folderIn(dataDir), name), 'utf8').catch(() => null)
  if (own !== null || postgres === null) return own
  const kept = await keptFile(postgres, keptName(name))
  return kept && new TextDecoder().decode(kept.content)
}
