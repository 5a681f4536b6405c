import { accessSync, constants, statSync } from 'node:fs'
import type { Config } from '../../config/settings.ts'

/** What one look at one thing tells. An error keeps Cairn from working, or its data from being safe. */
export interface Finding {
  status: 'ok' | 'warning' | 'error'
  /** What was looked at; a word of a fixed list, for scripts. */
  check: Check
  what: string
  /** What to do; null where nothing is to be done. */
  advice: string | null
}

export type Check =
  | 'versions'
  | 'settings'
  | 'directory'
  | 'rights'
  | 'disk'
  | 'database'
  | 'migration'
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
  /** Of the database that servers share; null where a server has its data in the directory. */
  databaseUrl: string | null
  /** All settings, where all of them can be read. */
  config: Config | null
  /** Whether the database is checked to the last page. */
  isFull: boolean
  /** Epoch milliseconds. */
  now: number
}

/** The same of a directory that is there and can be looked into. */
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

/** Whether there is a directory that can be looked into; why not is what `checkDirectory` says. */
export const isReadableDirectory = (path: string): boolean =>
  isAllowed(path, constants.R_OK | constants.X_OK) && statSync(path).isDirectory()
