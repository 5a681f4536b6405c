import { type FileHandle, open, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncDirectory } from '../database/synced-files.ts'
import { RestoreRefused } from './check-backup.ts'
import { writeBeside } from './checksum.ts'
import { erasuresFileOf } from './folder.ts'

/**
 * Who was erased is listed outside of the database, a line each, so that an older database learns of it
 * again. A backup takes the list along, and a restore adds what the lists beside backups know to that
 * of the data directory: whichever backup is restored, on whichever machine, nobody comes back.
 */
const listOf = (dataDir: string) => join(dataDir, 'erasures.jsonl')

const nameOfList = /\.erasures\.jsonl$/

/** Copies a data directory's list beside a backup; nothing where nobody was erased. */
export async function copyErasures(dataDir: string, backup: string): Promise<void> {
  const text = await textOf(listOf(dataDir))
  if (text !== '') await writeBeside(erasuresFileOf(backup), text)
}

/**
 * Adds the lines of all lists in a backup's folder to that of a data directory, where they are missing.
 *
 * @returns how many it added
 * @throws RestoreRefused where a list is damaged
 */
export async function takeErasures(backup: string, dataDir: string): Promise<number> {
  const list = listOf(dataDir)
  const own = await textOf(list)
  const known = new Set(own.split('\n'))
  const news = new Set<string>()
  const folder = dirname(backup)
  for (const name of (await readdir(folder)).filter(name => nameOfList.test(name)).sort()) {
    const path = join(folder, name)
    for (const line of (await textOf(path)).split('\n')) {
      if (line === '' || known.has(line)) continue
      requireLine(line, path)
      news.add(line)
    }
  }
  if (news.size === 0) return 0
  let file: FileHandle | undefined
  try {
    file = await open(list, 'a', 0o600)
    // Half a line was being written when its process died: nothing may follow it.
    await file.truncate(Buffer.byteLength(own))
    await file.write([...news].map(line => `${line}\n`).join(''))
    await file.sync()
  } finally {
    await file?.close()
  }
  syncDirectory(dataDir)
  return news.size
}

/** Its whole lines. */
async function textOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: { code?: string }) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

function requireLine(line: string, path: string): void {
  try {
    const { action, at, org, key, person } = JSON.parse(line)
    if ([action, at, org, key, person].every(value => typeof value === 'string')) return
  } catch {}
  throw new RestoreRefused(
    `${basename(path)} beside the backup, which lists who was erased, is damaged: take it from another copy, or away`,
  )
}
