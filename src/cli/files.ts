import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { CommandFailure } from './failure.ts'

/** A file as it was named, with its text. */
export interface ReadFile {
  /** `<stdin>` for `-`. */
  name: string
  text: string
}

/** No flow file needs more; what a flow file holds is held against the same bound. */
const mostBytes = 1_048_576

const faults: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'it may not be read by this user: change its rights',
  EPERM: 'it may not be read by this user: change its rights',
  EISDIR: 'it is a directory: name the files in it',
}

/** The text of a file, of at most 1 MiB; `-` is the standard input. */
export function readTextFile(path: string): ReadFile {
  const name = path === '-' ? '<stdin>' : path
  try {
    if (path !== '-' && statSync(path).isDirectory()) throw { code: 'EISDIR' }
    const handle = path === '-' ? 0 : openSync(path, 'r')
    try {
      return { name, text: decode(name, readAtMost(name, handle)) }
    } finally {
      if (path !== '-') closeSync(handle)
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    const { code = String(error) } = error as { code?: string }
    throw new CommandFailure(`${name}: ${faults[code] ?? `it cannot be read (${code})`}`)
  }
}

function readAtMost(name: string, handle: number): Uint8Array {
  const bytes = new Uint8Array(mostBytes + 1)
  let length = 0
  while (length < bytes.length) {
    const read = readSync(handle, bytes, length, bytes.length - length, null)
    if (read === 0) return bytes.subarray(0, length)
    length += read
  }
  throw new CommandFailure(`${name}: it is over 1 MiB: split it into several files`)
}

function decode(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CommandFailure(`${name}: it is not UTF-8 text: save it as UTF-8`)
  }
}
