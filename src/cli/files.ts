import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { attempt } from '../core/attempt.ts'
import type { FileProblem } from '../core/flow/file.ts'
import { CommandFailure, UsageFailure } from './failure.ts'

/** A file as it was named, with its text, or why there is none. */
export type TextFile = { name: string } & ({ text: string } | { problem: FileProblem })

/** No flow file needs more. The contents of a flow file are checked against the same bound. */
const maxBytes = 1_048_576

const problems = {
  missing_file: 'File not found. Check the name.',
  unreadable_file: 'This user cannot read the file. Change its permissions.',
  is_directory: 'This is a directory. Name the files in it.',
  too_large: 'The file is over 1 MiB. Split it.',
  not_utf8: 'The file is not UTF-8. Save it as UTF-8.',
} as const

const problemCodes: Record<string, keyof typeof problems> = {
  ENOENT: 'missing_file',
  ENOTDIR: 'missing_file',
  EACCES: 'unreadable_file',
  EPERM: 'unreadable_file',
  EISDIR: 'is_directory',
}

const problemOf = (code: keyof typeof problems, message: string = problems[code]): FileProblem => ({
  severity: 'error',
  code,
  path: '',
  message,
  line: null,
  column: null,
})

/**
 * The text of a file, of at most 1 MiB; `-` is the standard input, named `<stdin>`. Never throws, so that
 * each of several files can be reported.
 */
export function readTextFile(path: string): TextFile {
  const name = path === '-' ? '<stdin>' : path
  try {
    if (path !== '-' && statSync(path).isDirectory()) {
      return { name, problem: problemOf('is_directory') }
    }
    const bytes = readAtMost(path)
    if (bytes === null) return { name, problem: problemOf('too_large') }
    const text = decoded(bytes)
    return text === null ? { name, problem: problemOf('not_utf8') } : { name, text }
  } catch (error) {
    const { code = String(error) } = error as { code?: string }
    const problem = problemCodes[code]
    if (problem) return { name, problem: problemOf(problem) }
    return { name, problem: problemOf('unreadable_file', `The file cannot be read (${code}).`) }
  }
}

/**
 * The JSON of an option: its value, the file after `@`, or the standard input (`-`).
 *
 * @param example a value to write, for the error
 * @throws CommandFailure, UsageFailure
 */
export function readJson(option: string, given: string, example: string): unknown {
  let text = given
  if (given === '-' || given.startsWith('@')) {
    const file = readTextFile(given.replace('@', ''))
    if ('problem' in file) throw new CommandFailure(`${file.name}: ${file.problem.message}`)
    text = file.text
  }
  const value = attempt(() => JSON.parse(text) as unknown, undefined)
  if (value !== undefined) return value
  throw new UsageFailure(`${option} must be JSON, such as '${example}'`)
}

/** Null if there are more bytes than a file may have. */
function readAtMost(path: string): Uint8Array | null {
  const handle = path === '-' ? 0 : openSync(path, 'r')
  try {
    const bytes = new Uint8Array(maxBytes + 1)
    let length = 0
    while (length < bytes.length) {
      const read = readSync(handle, bytes, length, bytes.length - length, null)
      if (read === 0) return bytes.subarray(0, length)
      length += read
    }
    return null
  } finally {
    if (path !== '-') closeSync(handle)
  }
}

const decoded = (bytes: Uint8Array) =>
  attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes), null)

/**
 * Rejects a path with something other than a file. Anyone who can write to the folder could put a link there to a
 * file that only this user can write.
 *
 * @throws CommandFailure
 */
export function requireFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found || found.isFile()) return
  const what = found.isSymbolicLink() ? 'a symbolic link, which is not followed' : 'no file'
  throw new CommandFailure(`${path} is ${what}: remove it, or choose another path`)
}

/** Makes a directory, unless it is there. @throws CommandFailure */
export function makeDirectory(path: string, option = ''): void {
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    const { code } = error as { code?: string }
    const reason = code === 'EEXIST' ? 'there is a file of that name' : code
    throw new CommandFailure(
      `the directory ${path} cannot be made (${reason}): choose another${option}`,
    )
  }
}

/** A unique name beside a file, for a draft that takes the file's place once it is complete. */
export const draftOf = (path: string) => `${path}.${crypto.randomUUID()}`

/**
 * Puts a text in the place of a file, or where there is none. Readers see either the old file or the new one,
 * and no link is followed.
 *
 * @param mode the rights; if left out, those of the file before, or what the umask leaves of a new one
 * @throws CommandFailure if something other than a file is there
 */
export function replaceFile(path: string, text: string, mode?: number): void {
  requireFile(path)
  const before = lstatSync(path, { throwIfNoEntry: false })
  const draft = draftOf(path)
  try {
    writeFileSync(draft, text, { flag: 'wx' })
    const rights = mode ?? before?.mode
    if (rights !== undefined) chmodSync(draft, rights & 0o7777)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** What the user's own files deny to others, as the shell has set it. */
let ofUser = 0

/** From now on, everything that is written belongs to the user alone, because it is Cairn's own data. */
export function keepPrivate(): void {
  ofUser = process.umask(0o077)
}

/** Writes the user's own files, such as those of a repository, with the rights that the user's umask leaves. */
export function asUsers<Result>(write: () => Result): Result {
  const ours = process.umask(ofUser)
  try {
    return write()
  } finally {
    process.umask(ours)
  }
}
