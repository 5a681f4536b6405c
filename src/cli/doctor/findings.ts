import { accessSync, constants, statSync } from 'node:fs'
import type { Config } from '../../config/settings.ts'
import { codeOf } from '../asking.ts'

const { R_OK, W_OK, X_OK } = constants

/** What was checked, for scripts. */
export type Check =
  | 'versions'
  | 'settings'
  | 'directory'
  | 'rights'
  | 'disk'
  | 'database'
  | 'dead_letters'
  | 'clock'
  | 'backup'
  | 'server'
  | 'ports'
  | 'organisation'
  | 'limits'
  | 'issuer'

/** The result of one check. An error keeps Cairn from working, or its data from being safe. */
export interface Finding {
  status: 'ok' | 'warning' | 'error'
  check: Check
  what: string
  /** What to do; null if there is nothing to do. */
  advice: string | null
}

export type Findings = Generator<Finding>

const findingOf =
  (status: Finding['status']) =>
  (check: Check, what: string, advice: string | null = null): Finding => ({
    ...{ status, check, what, advice },
  })

export const ok = findingOf('ok')
export const warning = findingOf('warning')
export const error = findingOf('error')

/** What is checked. A setting that cannot be read is null. */
export interface Subject {
  data: string | null
  /** The database that servers share; null if a server has its data in the directory. */
  databaseUrl: string | null
  /** All settings, if all of them are valid. */
  config: Config | null
  /** Whether every page of the database is checked. */
  isFull: boolean
  /** Epoch milliseconds. */
  now: number
}

/** The system's code if this user may not access a file this way; null if they may. */
export function accessProblem(path: string, mode: number): string | null {
  try {
    accessSync(path, mode)
    return null
  } catch (problem) {
    return codeOf(problem)
  }
}

export const isReadableDirectory = (path: string): boolean =>
  accessProblem(path, R_OK | X_OK) === null && statSync(path).isDirectory()

/** Whether there is a directory with the rights that Cairn needs. If not, `checkDirectory` reports why. */
export const isUsableDirectory = (path: string): boolean =>
  isReadableDirectory(path) && accessProblem(path, W_OK) === null
