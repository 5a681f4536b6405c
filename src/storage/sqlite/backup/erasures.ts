import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  addToErasures,
  ErasuresUnreadable,
  erasuresFile,
  type ListedErasure,
  linesOfList,
  listedIn,
} from '../erasure/erasure-list.ts'
import { RestoreRefused } from './check-backup.ts'
import { writeBeside } from './checksum.ts'
import { erasuresFileOf } from './folder.ts'

/**
 * Erased people are listed outside the database, one line each, so that an older database learns of them
 * again. A backup takes the list along, and a restore adds what the lists beside backups know to the list
 * of the data directory: whichever backup is restored, on whichever machine, nobody comes back.
 */

const nameOfList = /\.erasures\.jsonl$/

/** Copies a data directory's list beside a backup; does nothing if nobody was erased. */
export async function copyErasures(dataDir: string, backup: string): Promise<void> {
  const lines = linesOfList(erasuresFile(dataDir))
  const text = lines.map(line => `${line}\n`).join('')
  if (text !== '') await writeBeside(dataDir, erasuresFileOf(backup), text)
}

/**
 * Adds the lines of all lists in a backup's folder to the list of a data directory, where they are missing.
 *
 * @returns how many it added
 * @throws RestoreRefused if a list is damaged
 */
export async function takeErasures(backup: string, dataDir: string): Promise<number> {
  const known = new Set(linesOfList(erasuresFile(dataDir)))
  const news: ListedErasure[] = []
  const folder = dirname(backup)
  for (const name of (await readdir(folder)).filter(name => nameOfList.test(name)).sort()) {
    const path = join(folder, name)
    for (const [place, line] of linesOfList(path).entries()) {
      if (line === '' || known.has(line)) continue
      known.add(line)
      news.push(lineBeside(line, path, place))
    }
  }
  addToErasures(dataDir, news)
  return news.length
}

function lineBeside(...[line, path, place]: Parameters<typeof listedIn>): ListedErasure {
  try {
    return listedIn(line, path, place)
  } catch (error) {
    if (!(error instanceof ErasuresUnreadable)) throw error
    throw new RestoreRefused(
      `${basename(path)} beside the backup, which lists who was erased, is damaged: take it from another copy, or away`,
      { cause: error },
    )
  }
}
