import { accessSync, constants, statSync } from 'node:fs'
import type { Config } from '../../config/settings.ts'

/** The result of one look at one thing. An error keeps Cairn from working, or its data from being safe. */
export interface Finding {
  status: 'ok' | 'warning' | 'error'
  /** What was looked at; a word of a fixed list, for scripts. */
  check: Check
  what: string
  /** What to do; null if there is nothing to do. */
  advice: string | null
}

export type Check =
  | 'versions'
  | 'settings'
  | 'directory'
  | 'rights'
  | 'disk'
  | 'database'
  | 'dead_letters'
  | 'webhooks'
  | 'backup'
  | 'server'
  | 'unit'
  | 'ports'
  | 'limits'
  | 'identity'
  | 'issuer'
  | 'clock'
  | 'time_zones'
  | 'open_files'
  | 'memory'

const findingOf =
  (status: Finding['status']) =>
  (check: Check, what: string, advice: string | null = null): Finding => ({
    status,
    check,
    what,
    advice,
  })

export const ok = findingOf('ok')
export const warning = findingOf('warning')
export const error = findingOf('error')

/** What the checks look at. A setting that cannot be read is null. */
export interface Subject {
  data: string | null
  bufferBytes: number | null
  /** The database that servers share; null if a server has its data in the directory. */
  databaseUrl: string | null
  /** All settings, if all of them can be read. */
  config: Config | null
  /** Whether the database is checked to the last page. */
  isFull: boolean
  /** Epoch milliseconds. */
  now: number
}

/** The same, with a directory that exists and can be read. */
export type DataSubject = Subject & { data: string }

/** Whether this user may do something with a file. */
export function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Whether there is a directory that can be read. If not, `checkDirectory` says why. */
export const isReadableDirectory = (path: string): boolean =>
  isAllowed(path, constants.R_OK | constants.X_OK) && statSync(path).isDirectory()
