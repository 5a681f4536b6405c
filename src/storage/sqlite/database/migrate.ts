import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import initial from '../migrations/0001-initial.sql' with { type: 'text' }
import oldKeyUsed from '../migrations/0002-old-key-used.sql' with { type: 'text' }
import eventIds from '../migrations/0003-event-ids.sql' with { type: 'text' }
import eventBatches from '../migrations/0004-event-batches.sql' with { type: 'text' }
import rowIndexes from '../migrations/0005-row-indexes.sql' with { type: 'text' }
import runBlocks from '../migrations/0006-run-blocks.sql' with { type: 'text' }
import retention from '../migrations/0007-retention.sql' with { type: 'text' }
import erasures from '../migrations/0008-erasures.sql' with { type: 'text' }
import verifiedIdentity from '../migrations/0009-verified-identity.sql' with { type: 'text' }
import doNotTrack from '../migrations/0010-do-not-track.sql' with { type: 'text' }
import checklistPasses from '../migrations/0011-checklist-passes.sql' with { type: 'text' }
import management from '../migrations/0012-management.sql' with { type: 'text' }
import dashboardSessions from '../migrations/0013-dashboard-sessions.sql' with { type: 'text' }
import alerts from '../migrations/0014-alerts.sql' with { type: 'text' }
import timezone from '../migrations/0015-timezone.sql' with { type: 'text' }
import traits from '../migrations/0016-traits.sql' with { type: 'text' }
import flowSources from '../migrations/0017-flow-sources.sql' with { type: 'text' }
import organisationTheme from '../migrations/0018-organisation-theme.sql' with { type: 'text' }
import stagingLinks from '../migrations/0019-staging-links.sql' with { type: 'text' }
import answers from '../migrations/0020-answers.sql' with { type: 'text' }
import when from '../migrations/0021-when.sql' with { type: 'text' }
import projected from '../migrations/0022-projected.sql' with { type: 'text' }
import codec from '../migrations/0023-codec.sql' with { type: 'text' }
import peopleInOrder from '../migrations/0024-people-in-order.sql' with { type: 'text' }
import requestedSends from '../migrations/0025-requested-sends.sql' with { type: 'text' }
import log from '../migrations/0026-log.sql' with { type: 'text' }
import { rebuild } from '../projections/rebuild.ts'

interface Migration {
  id: number
  name: string
  sql: string
  /**
   * What SQL alone cannot do well. Runs after the SQL, in the same transaction, and tells the share of its
   * work that is done. No hash covers it; tests check that each release's own database comes out right.
   */
  move?: (database: Database, onShare: (share: number) => void) => void
}

/** Every step of the schema, oldest first. A released one is never edited: its hash is checked. */
const migrations: readonly Migration[] = [
  { id: 1, name: 'initial', sql: initial },
  { id: 2, name: 'old-key-used', sql: oldKeyUsed },
  { id: 3, name: 'event-ids', sql: eventIds },
  { id: 4, name: 'event-batches', sql: eventBatches },
  { id: 5, name: 'row-indexes', sql: rowIndexes },
  { id: 6, name: 'run-blocks', sql: runBlocks },
  { id: 7, name: 'retention', sql: retention },
  { id: 8, name: 'erasures', sql: erasures },
  { id: 9, name: 'verified-identity', sql: verifiedIdentity },
  { id: 10, name: 'do-not-track', sql: doNotTrack },
  { id: 11, name: 'checklist-passes', sql: checklistPasses },
  { id: 12, name: 'management', sql: management },
  { id: 13, name: 'dashboard-sessions', sql: dashboardSessions },
  { id: 14, name: 'alerts', sql: alerts },
  { id: 15, name: 'timezone', sql: timezone },
  { id: 16, name: 'traits', sql: traits },
  { id: 17, name: 'flow-sources', sql: flowSources },
  { id: 18, name: 'organisation-theme', sql: organisationTheme },
  { id: 19, name: 'staging-links', sql: stagingLinks },
  { id: 20, name: 'answers', sql: answers },
  { id: 21, name: 'when', sql: when },
  { id: 22, name: 'projected', sql: projected },
  { id: 23, name: 'codec', sql: codec },
  { id: 24, name: 'people-in-order', sql: peopleInOrder },
  { id: 25, name: 'requested-sends', sql: requestedSends },
  { id: 26, name: 'log', sql: log },
]

/** The newest step that this release knows. */
export const schemaKnown = migrations.at(-1)!.id

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The database was made by a Cairn whose databases this one cannot read. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
}

/** A step of the schema, by the number and the name of its file. */
export type MigrationStep = Pick<Migration, 'id' | 'name'>

/** How a database's schema compares with what this binary knows; finding out changes nothing. */
export interface SchemaState {
  /** The newest step that was applied; 0 for a database without any. */
  applied: number
  known: number
  /** Applied steps that differ from the ones that this binary has under their numbers. */
  differing: readonly number[]
  /** The steps that are still to be applied, oldest first. */
  due: readonly MigrationStep[]
}

export function schemaState(database: Database): SchemaState {
  const isMade = database
    .query("select 1 from sqlite_schema where type = 'table' and name = 'migrations'")
    .get()
  const rows = isMade
    ? database
        .query<{ id: number; sha256: string }, []>('select id, sha256 from migrations order by id')
        .all()
    : []
  const hashes = new Map(migrations.map(({ id, sql }) => [id, sha256(sql)]))
  const applied = new Set(rows.map(({ id }) => id))
  return {
    applied: rows.at(-1)?.id ?? 0,
    known: schemaKnown,
    differing: rows
      .filter(row => hashes.has(row.id) && hashes.get(row.id) !== row.sha256)
      .map(({ id }) => id),
    due: migrations.filter(({ id }) => !applied.has(id)).map(({ id, name }) => ({ id, name })),
  }
}

/**
 * @param wayBack what can be done about a newer database other than running the newer release
 * @throws SchemaMismatch when the database is newer than this binary, or an applied step differs
 */
export function requireKnownSchema({ applied, known, differing }: SchemaState, wayBack = ''): void {
  if (applied > known) {
    throw new SchemaMismatch(
      `the database has schema ${applied}, and this cairn knows ${known}: run the newer release${wayBack}`,
    )
  }
  const [id] = differing
  if (id === undefined) return
  throw new SchemaMismatch(
    `step ${id} (${migrations.find(step => step.id === id)?.name}) of the database's schema is not the one of this cairn: run the release that made it`,
  )
}

/** An empty database in memory that has been through these steps. */
export function emptyWith(steps: ReadonlySet<number>): Database {
  const database = new Database(':memory:', { strict: true })
  applySteps(
    database,
    migrations.filter(({ id }) => steps.has(id)),
    0,
    () => {},
  )
  return database
}

/** How far a migration is. */
export interface MigrationProgress extends MigrationStep {
  /** Its place among the steps that were due, from 1, and their number. */
  place: number
  of: number
  /** The share of the step that is done: of its rows if it moves any, otherwise of its statements; 0 to 1. */
  share: number
}

/** Executes the statements of a step one by one, so that progress can be told. */
function execute(database: Database, sql: string, onShare: (share: number) => void): void {
  const isEmpty = (text: string) => /^(\s|--.*)*$/.test(text)
  for (let rest = sql; !isEmpty(rest); ) {
    const statement = database.prepare(rest)
    rest = rest.slice(statement.toString().length)
    statement.run()
    statement.finalize()
    onShare(isEmpty(rest) ? 1 : 1 - rest.length / sql.length)
  }
}

/**
 * Brings the schema up to date, forward only: each step in a transaction of its own, but all steps of a new
 * database in one, so that a power cut never leaves a half-made one. If nothing is due, nothing is locked,
 * so that a command that only reads does not wait for writers.
 *
 * @throws SchemaMismatch when the database is newer than this binary, or an applied step differs
 */
export function migrate(
  database: Database,
  now: number,
  onProgress: (progress: MigrationProgress) => void = () => {},
): void {
  const state = schemaState(database)
  requireKnownSchema(state)
  if (state.due.length === 0) return
  const isNew = state.applied === 0
  const apply = () => applySteps(database, state.due, now, onProgress)
  if (isNew) database.transaction(apply).immediate()
  else apply()
  requireKnownSchema(schemaState(database))
}

/**
 * Makes all projections anew if a step has asked for it. This happens with the last step, because a rebuild
 * needs the schema as this binary knows it.
 */
function rebuildWhereDue(database: Database, onShare: (share: number) => void): void {
  const asked = database.run("delete from server_state where name = 'rebuild_due'")
  if (asked.changes === 0) return
  rebuild(database, ({ flows, flowsDone }) => onShare(flowsDone / flows))
}

function applySteps(
  database: Database,
  due: readonly MigrationStep[],
  now: number,
  onProgress: (progress: MigrationProgress) => void,
): void {
  database.run(
    `create table if not exists migrations (
      id integer primary key, name text not null, sha256 text not null, applied_at integer not null
    ) strict`,
  )
  for (const [index, { id, name }] of due.entries()) {
    const { sql, move } = migrations.find(step => step.id === id)!
    const told = { id, name, place: index + 1, of: due.length }
    const onShare = (share: number) => onProgress({ ...told, share })
    const apply = database.transaction(() => {
      if (database.query('select 1 from migrations where id = ?').get(id)) return
      onShare(0)
      execute(database, sql, move ? () => {} : onShare)
      move?.(database, onShare)
      if (index === due.length - 1) rebuildWhereDue(database, onShare)
      database.run('insert into migrations values (?, ?, ?, ?)', [id, name, sha256(sql), now])
    })
    // Immediate: two processes that start at once must not both find the step missing.
    apply.immediate()
    onShare(1)
  }
}
