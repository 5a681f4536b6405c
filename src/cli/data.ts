import type { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { holderOf, isHeld } from '../server/lock.ts'
import { newestChange, takenUpChange } from '../storage/catalogue/change.ts'
import { hasDatabase, openForWriting } from '../storage/database/database.ts'
import { requireNoLostDatabase } from '../storage/database/lost-database.ts'
import { migrate, schemaState } from '../storage/database/migrate.ts'
import { requireUsable } from '../storage/database/prepare.ts'
import { makeSyncedDirectory } from '../storage/database/synced-files.ts'
import {
  findOrganisation,
  listOrganisations,
  type OrganisationRecord,
} from '../storage/organisations/organisations.ts'
import { CommandFailure, exitStatus, UsageFailure, warn } from './failure.ts'

/** How long a running server is waited for, and how often it is asked. */
const patienceMs = 5_000
const pauseMs = 20

/** @throws CommandFailure, DatabaseLost where a directory holds no data of Cairn */
export function requireData(dataDir: string): void {
  if (hasDatabase(dataDir)) return
  requireNoLostDatabase(dataDir)
  throw new CommandFailure(
    `there is no Cairn data in ${dataDir}: name its directory with --data or CAIRN_DATA, or begin with "cairn org create NAME"`,
  )
}

/** Opens the data directory for one command and closes it after. */
export async function withData<T>(
  dataDir: string,
  work: (database: Database) => T | Promise<T>,
): Promise<T> {
  requireData(dataDir)
  const database = openForWriting(dataDir)
  try {
    requireUpToDate(database, dataDir, isHeld)
    return await work(database)
  } finally {
    database.close()
  }
}

/**
 * Makes the tables of a new database. One that holds data of an older release is changed by
 * `cairn migrate` and a start alone, which copy it first and keep servers away.
 */
function requireUpToDate(
  database: Database,
  dataDir: string,
  isServed: (dataDir: string) => boolean,
): void {
  const state = schemaState(database)
  requireUsable(dataDir, state)
  const { applied, known, due } = state
  if (applied === 0) migrate(database, Date.now())
  if (applied === 0 || due.length === 0) return
  if (isServed(dataDir)) requireNoServer(dataDir)
  throw new CommandFailure(
    `the database in ${dataDir} has schema ${applied}, and this cairn works with ${known}: run "cairn migrate", or start the server, which does the same`,
  )
}

/** The same checks for a command that has the directory for itself. */
export function requireUsableData(dataDir: string): void {
  const database = openForWriting(dataDir)
  try {
    requireUpToDate(database, dataDir, () => false)
  } finally {
    database.close()
  }
}

/** A running server of an older release must not find its tables changed under it. */
export function requireNoServer(dataDir: string): void {
  if (!isHeld(dataDir)) return
  const holder = holderOf(dataDir)
  throw new CommandFailure(
    `the server that runs on ${dataDir} is older (${holder?.version ?? 'of another release'}) than this command: stop it and start this release, or use that release's commands`,
  )
}

/**
 * Resolves when a running server, if there is one, has taken up all changes made so far. Where it
 * does not in time, the command goes on to say what it did, and ends with status 1: a script that
 * revokes a key has to know that the key may still work.
 */
export async function takenUp(database: Database, dataDir: string): Promise<void> {
  const ours = newestChange(database)
  if (await serverHas(dataDir, () => takenUpChange(database) >= ours)) return
  warn('the change is stored, but the running server has not taken it up yet: see its log')
  process.exitCode = exitStatus.failure
}

/** Waits for a running server; false where it has not done it in time. */
export async function serverHas(dataDir: string, isDone: () => boolean): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (isHeld(dataDir) && !isDone()) {
    if (performance.now() > deadline) return false
    await Bun.sleep(pauseMs)
  }
  return true
}

/** Makes the data directory, for its owner alone; an existing one is left as it is. */
export function makeDirectory(dataDir: string): void {
  try {
    if (!existsSync(dataDir)) makeSyncedDirectory(dataDir)
    if (statSync(dataDir).isDirectory()) return
  } catch (error) {
    const { code } = error as { code?: string }
    throw new CommandFailure(
      `the data directory ${dataDir} cannot be made (${code}): choose another with --data`,
    )
  }
  throw new CommandFailure(`${dataDir} is not a directory: choose another with --data`)
}

/**
 * By id or slug; without a name, the only one that there is.
 *
 * @param how how the command takes the name, for the error
 */
export function organisationNamed(
  database: Database,
  name: string | undefined,
  how = 'with --org',
): OrganisationRecord {
  if (name !== undefined) {
    const organisation = findOrganisation(database, name)
    if (organisation) return organisation
    throw new CommandFailure(
      `there is no organisation "${name.slice(0, 100)}": see "cairn org list" for ids and slugs`,
    )
  }
  const all = listOrganisations(database)
  const [only] = all
  if (!only) throw new CommandFailure('there is no organisation: make one, "cairn org create NAME"')
  if (all.length === 1) return only
  const some = all.slice(0, 5).map(({ slug }) => slug)
  const more = all.length > some.length ? `, … (${all.length} in all)` : ''
  throw new UsageFailure(`say which organisation ${how}: ${some.join(', ')}${more}`)
}
