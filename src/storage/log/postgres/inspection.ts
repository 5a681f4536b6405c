import { Postgres, type Queries, sqlStateOf } from './connection.ts'
import { apart } from './nodes.ts'
import { type LogState, logFormat, logStateOf, ownTables } from './open.ts'
import { pools } from './pools.ts'

/** The database cannot be used. The message is for the person who gave its address. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable'

  constructor(
    readonly what: string,
    readonly advice: string,
  ) {
    super(`the database at ${what}: ${advice}`)
  }
}

/** What a usable database reports about itself and its server. */
export interface DatabaseSeen {
  /** Host, port and name. */
  place: string
  /** `15.18`. */
  version: string
  /** What it says of the log in it; null if it is empty, and the first node sets it up. */
  log: LogState | null
  /** How far its clock is ahead of this machine's, at least; milliseconds. */
  aheadMs: number
  isEncrypted: boolean
  /** Settings of the server, as it names them. */
  fsync: boolean
  fullPageWrites: boolean
  synchronousCommit: string
  /** The standbys that a commit waits for; empty if there are none. */
  synchronousStandbys: string
  /** Whether its write-ahead log is archived, as point-in-time recovery needs. */
  isArchiving: boolean
}

/** The first major version that has everything that Cairn needs. */
const minMajor = 15

const defaultPort = 5_432

/** How long all queries together may take, milliseconds. Only connecting has a limit of its own. */
const patienceMs = 10_000

/**
 * Makes sure that a database can keep what Cairn stores: that it exists, lets this user in, can be written, and
 * has this release's schema.
 *
 * @param now this machine's clock
 * @param mayHaveEnded whether a log is accepted though its data was moved elsewhere
 * @throws DatabaseUnusable saying what to do
 */
export async function inspectDatabase(
  url: string,
  now: () => number,
  mayHaveEnded: (log: string) => boolean = () => false,
): Promise<DatabaseSeen> {
  const place = databasePlace(url)
  let postgres: Postgres
  try {
    // With a node's settings, because a pooler in between may not accept them.
    postgres = Postgres.open(url, pools.following)
  } catch (error) {
    throw rejectionOf(url, error)
  }
  const tooLate = setTimeout(() => postgres.close(true), patienceMs)
  try {
    const facts = await factsOf(postgres)
    requireUsable(place, facts)
    const log = await logStateOf(postgres)
    await requireLog(place, postgres, facts, log, mayHaveEnded)
    const aheadMs = await postgres.begin(queries => aheadMsOf(queries, now))
    return { ...facts, place, log, aheadMs }
  } catch (error) {
    throw error instanceof DatabaseUnusable ? error : rejectionOf(url, error)
  } finally {
    clearTimeout(tooLate)
    await postgres.close(true)
  }
}

type Facts = Awaited<ReturnType<typeof factsOf>>

async function factsOf(postgres: Queries) {
  return (await postgres.get<
    Omit<DatabaseSeen, 'place' | 'log' | 'aheadMs'> & {
      major: number
      encoding: string
      isStandby: boolean
      isReadOnly: boolean
      database: string
      user: string
      intoSchema: string | null
      mayCreate: boolean | null
      owner: string | null
      isOwner: boolean | null
    }
  >(
    `select
      split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('server_version_num')::integer / 10000 as major,
      current_setting('server_encoding') as encoding,
      pg_is_in_recovery() as "isStandby",
      current_setting('default_transaction_read_only')::boolean as "isReadOnly",
      current_database() as database,
      current_user as user,
      current_schema() as "intoSchema",
      has_schema_privilege(current_schema(), 'create') as "mayCreate",
      pg_get_userbyid(ours.relowner) as owner,
      pg_has_role(ours.relowner, 'usage') as "isOwner",
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "isEncrypted",
      current_setting('fsync')::boolean as fsync,
      current_setting('full_page_writes')::boolean as "fullPageWrites",
      current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('synchronous_standby_names') as "synchronousStandbys",
      current_setting('archive_mode') <> 'off' as "isArchiving"
    from (select 1) as one left join pg_class as ours on ours.oid = to_regclass('cairn_clock')`,
  ))!
}

const rejectionsOf = (place: string) => (what: string, advice: string) => {
  throw new DatabaseUnusable(`${place} ${what}`, advice)
}

/** @throws DatabaseUnusable if the server or the user is unsuitable, whatever is in the tables */
function requireUsable(place: string, facts: Facts): void {
  const refuse = rejectionsOf(place)
  if (facts.major < minMajor) {
    refuse(`is PostgreSQL ${facts.version}`, `upgrade it to ${minMajor} or newer`)
  }
  if (facts.encoding !== 'UTF8') {
    refuse(
      `has the encoding ${facts.encoding}, which cannot store all characters`,
      `create another with "create database NAME encoding 'UTF8' template template0", and use that`,
    )
  }
  if (facts.isStandby) refuse('is a standby, which is read-only', 'name its primary')
  if (facts.isReadOnly) {
    refuse(
      'is read-only (default_transaction_read_only)',
      'set it to off for the server, the database and the user, or use the primary',
    )
  }
  if (facts.isOwner === false) {
    refuse(
      `has tables that are not this user's (${facts.user})`,
      `connect as their owner (${facts.owner})`,
    )
  }
}

/** @throws DatabaseUnusable if this release cannot follow the log, or cannot create its tables */
async function requireLog(
  place: string,
  postgres: Queries,
  { database, user, intoSchema, mayCreate }: Facts,
  log: LogState | null,
  mayHaveEnded: (log: string) => boolean,
): Promise<void> {
  const refuse = rejectionsOf(place)
  if (log !== null && log.format > logFormat) {
    refuse(
      `has log format ${log.format}, and this cairn works with ${logFormat}`,
      'nodes of a newer release use it: run that release',
    )
  }
  if (log?.movedTo && !mayHaveEnded(log.log)) {
    refuse(`was moved to ${log.movedTo}`, 'serve from there, or use an empty database')
  }
  const foreign = log === null ? await foreignTables(postgres) : []
  if (foreign.length > 0) {
    refuse(
      `has other tables with names that Cairn uses (${foreign.join(', ')})`,
      'use a separate database for Cairn',
    )
  }
  if (log === null && (intoSchema === null || mayCreate === false)) {
    refuse(
      `does not let this user (${user}) create tables`,
      `make it the owner: alter database "${database}" owner to "${user}"`,
    )
  }
}

/** Tables with names of Cairn's where its own would go. */
async function foreignTables(postgres: Queries): Promise<string[]> {
  const rows = await postgres.all<{ name: string }>(
    `select c.relname as name from pg_class as c
    join json_array_elements_text($1::text::json) as own (name) on own.name = c.relname
    where c.relnamespace = to_regnamespace(quote_ident(current_schema())) order by 1 limit 3`,
    JSON.stringify(ownTables),
  )
  return rows.map(({ name }) => name)
}

async function aheadMsOf(postgres: Queries, now: () => number): Promise<number> {
  const before = now()
  const startedAt = performance.now()
  const { at } = (await postgres.get<{ at: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as at',
  ))!
  const tookMs = performance.now() - startedAt
  return 0 - apart(before, at, tookMs)
}

/** How many nodes of a database run, by what they have reported. Only reads. */
export async function runningNodes(url: string): Promise<number> {
  const postgres = Postgres.open(url, { most: 1 })
  try {
    const { nodes } = (await postgres.get<{ nodes: number }>(
      'select count(*)::float8 as nodes from cairn_nodes where lease_until > clock_timestamp()',
    ))!
    return nodes
  } finally {
    await postgres.close()
  }
}

/** Host, port and name of a database: its address without user and password. */
export function databasePlace(address: string): string {
  const { hostname, port, pathname } = new URL(address)
  return `${hostname}:${port || defaultPort}/${decodeURIComponent(pathname.slice(1))}`
}

/** What is wrong, and what to do. */
type Fault = readonly [what: string, advice: string]

const silent: Fault = [
  'does not answer',
  'check that PostgreSQL is running there, and the firewall',
]
const noEntry: Fault = [
  'rejects the user or the password, or connections of this user from this machine',
  'correct them (write %40 for @), or allow the connection in pg_hba.conf; if it requires TLS, add ?sslmode=verify-full to the address',
]

/** By the client's code, or the server's SQLSTATE. */
const problems: Readonly<Record<string, Fault>> = {
  ERR_POSTGRES_CONNECTION_REFUSED: [
    'does not accept connections',
    'start it, or correct the address',
  ],
  ERR_POSTGRES_CONNECTION_TIMEOUT: silent,
  ERR_POSTGRES_CONNECTION_CLOSED: silent,
  ERR_POSTGRES_CONNECTION_FAILED: silent,
  ERR_POSTGRES_UNEXPECTED_MESSAGE: ['is not PostgreSQL', 'correct the address'],
  ERR_POSTGRES_TLS_NOT_AVAILABLE: [
    'does not use TLS',
    'turn on "ssl" there, or remove "sslmode" from the address if the network is private',
  ],
  '08P01': [
    'is behind a pooler that does not keep connection settings (PgBouncer)',
    'add pooler=transaction to the parameters of the address, such as ?pooler=transaction, or connect to PostgreSQL directly',
  ],
  '28000': noEntry,
  '28P01': noEntry,
  '42501': ['does not let this user connect', 'make it the owner, or grant it CONNECT and CREATE'],
  '53300': ['has no free connection', 'raise its max_connections'],
}

/** What an error means. Its message is not shown, because it may contain parts of the address. */
function rejectionOf(address: string, error: unknown): DatabaseUnusable {
  const code = sqlStateOf(error) ?? String((error as { code?: unknown }).code ?? 'unknown')
  const [what, advice] = problems[code] ?? otherProblem(code, new URL(address).pathname.slice(1))
  return new DatabaseUnusable(`${databasePlace(address)} ${what}`, advice)
}

function otherProblem(code: string, database: string): Fault {
  if (code === '3D000') {
    const statement = `create database ${decodeURIComponent(database)} encoding 'UTF8' template template0`
    return ['does not exist', `make it by "${statement}", or correct its name`]
  }
  if (/CERT|ALTNAME|SIGNED|ISSUER|SIGNATURE/.test(code)) {
    return [
      `has a certificate that is not trusted (${code})`,
      'add sslrootcert=FILE to the address, with the certificates of its authority, or use the name in its certificate',
    ]
  }
  return [`cannot be used (${code})`, 'see its log, and check the parameters of the address']
}
