import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { Problem } from '../core/flow-file.ts'

/** A file as it was named, with its text, or why there is none. */
export type TextFile = { name: string } & ({ text: string } | { problem: Problem })

/** No flow file needs more; what a flow file holds is held against the same bound. */
const mostBytes = 1_048_576

/** What is wrong with a whole file: its code and what to do. */
const faults = {
  missing_file: 'There is no such file: check the name',
  unreadable_file: 'This user may not read it: change its rights',
  is_directory: 'It is a directory: name the files in it',
  too_large: 'The file is over 1 MiB: split it into several',
  not_utf8: 'It is not UTF-8 text: save it as UTF-8',
} as const

const faultOf: Record<string, keyof typeof faults> = {
  ENOENT: 'missing_file',
  ENOTDIR: 'missing_file',
  EACCES: 'unreadable_file',
  EPERM: 'unreadable_file',
  EISDIR: 'is_directory',
}

const problemOf = (code: keyof typeof faults, message: string = faults[code]): Problem => ({
  severity: 'error',
  code,
  path: '',
  message,
  line: null,
  column: null,
})

/**
 * The text of a file, of at most 1 MiB; `-` is the standard input, named `<stdin>`. Never throws:
 * of several files, each can then be told of.
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
    const fault = faultOf[code]
    if (fault) return { name, problem: problemOf(fault) }
    return { name, problem: problemOf('unreadable_file', `It cannot be read (${code})`) }
  }
}

/** Null where there are more bytes than a file may have. */
function readAtMost(path: string): Uint8Array | null {
  const handle = path === '-' ? 0 : openSync(path, 'r')
  try {
    const bytes = new Uint8Array(mostBytes + 1)
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

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
