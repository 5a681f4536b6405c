import { randomBytes } from 'node:crypto'
import {
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { syncDirectory, withFile } from '../database/synced-files.ts'

/**
 * `erasures.jsonl`: who was erased, kept outside of the database so that a restored older database learns
 * of it again. Each line is JSON and says that a person was erased, or is allowed again. Lines do not
 * depend on each other, so that the lines of two such files, in any order, make a valid file.
 */

/** One line. */
export interface ListedErasure {
  action: 'erase' | 'allow'
  /** RFC 3339. Of one person's lines the latest counts. */
  at: string
  /** `org_…`. */
  org: string
  /** The key that the hash was made with, in base64. */
  key: string
  /** Hash of the person. */
  person: string
}

/** The list is damaged; the message says where and what to do. */
export class ErasuresUnreadable extends Error {
  override readonly name = 'ErasuresUnreadable'
}

export const erasuresFile = (dataDir: string) => join(dataDir, 'erasures.jsonl')

const isText = (value: unknown, pattern: RegExp) => typeof value === 'string' && pattern.test(value)

/** The complete lines of a list; none if there is no such file. */
export function linesOfList(file: string): string[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return []
    throw error
  }
  // What follows the last line break was being written when its process or machine died.
  return text.split('\n').slice(0, -1)
}

/**
 * What a line of a list says.
 *
 * @param place its place in the file, from 0
 * @throws ErasuresUnreadable
 */
export function listedIn(line: string, file: string, place: number): ListedErasure {
  try {
    const { action, at, org, key, person } = JSON.parse(line)
    const isWhole =
      isText(action, /^(erase|allow)$/) &&
      isText(at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/) &&
      isText(org, /^org_/) &&
      isText(key, /^[\w+/]{43}=$/) &&
      isText(person, /^[0-9a-f]{32}$/)
    if (isWhole) return { action, at, org, key, person }
  } catch {
    // It is not JSON.
  }
  throw new ErasuresUnreadable(
    `${file} is damaged in line ${place + 1}: restore it from a backup, or remove that line and erase that person again`,
  )
}

/**
 * The latest line about each person on the list of a data directory.
 *
 * @throws ErasuresUnreadable, and what the file system throws
 */
export const listedErasures = (dataDir: string): ListedErasure[] =>
  latestErasuresIn(erasuresFile(dataDir))

/** What identifies the person of a line. */
export const nameOfListed = ({ org, key, person }: ListedErasure) => `${org} ${key} ${person}`

/** The same for any such file. */
function latestErasuresIn(file: string): ListedErasure[] {
  const latest = new Map<string, ListedErasure>()
  for (const [place, line] of linesOfList(file).entries()) {
    if (line === '') continue
    const listed = listedIn(line, file, place)
    const name = nameOfListed(listed)
    const known = latest.get(name)
    if (!known || known.at <= listed.at) latest.set(name, listed)
  }
  return [...latest.values()]
}

/** The key for the hashes of new erasures: that of the list, or a new one. */
export function erasureKey(listed: readonly Pick<ListedErasure, 'key'>[]): string {
  return listed[0]?.key ?? randomBytes(32).toString('base64')
}

/**
 * Adds lines, which are on disk when it returns. Only its owner can access the file.
 *
 * @returns a function that takes them back, unless others have been added since
 */
export function addToErasures(dataDir: string, lines: readonly ListedErasure[]): () => void {
  if (lines.length === 0) return () => {}
  const file = erasuresFile(dataDir)
  const added = withFile(file, 'a+', handle => {
    fchmodSync(handle, 0o600)
    const text = readFileSync(handle)
    const end = text.lastIndexOf('\n') + 1
    if (end < text.length) ftruncateSync(handle, end)
    // Not writeSync: on a full disk it writes a part and says nothing.
    writeFileSync(handle, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    fsyncSync(handle)
    return { from: end, to: fstatSync(handle).size }
  })
  syncDirectory(dataDir)
  return () =>
    withFile(file, 'a+', handle => {
      if (fstatSync(handle).size !== added.to) return
      ftruncateSync(handle, added.from)
      fsyncSync(handle)
    })
}

/**
 * Adds lines before a change of the database that they are about, so that a crash between the two leaves
 * it to the next start. If the change fails, its lines are taken back.
 */
export function listing<Result>(
  dataDir: string,
  lines: readonly ListedErasure[],
  change: () => Result,
): Result {
  const takeBack = addToErasures(dataDir, lines)
  try {
    return change()
  } catch (error) {
    takeBack()
    throw error
  }
}
