import type { Queries } from './connection.ts'

/** What a server alone keeps in files, and nodes share: a session key, versions of the snippet, issuer keys. */
export interface KeptFile {
  name: string
  content: Uint8Array
  /** When it was written, epoch milliseconds. */
  at: number
}

const columns = 'name, content, at'

const hexOf = (content: Uint8Array) => Buffer.from(content).toString('hex')

/** Null if there is none. */
export const keptFile = (queries: Queries, name: string): Promise<KeptFile | null> =>
  queries.get<KeptFile>(`select ${columns} from cairn_files where name = $1`, name)

/** Writes a file, in place of what it was. */
export async function keepFile(queries: Queries, { name, content, at }: KeptFile): Promise<void> {
  await queries.run(
    `insert into cairn_files (name, content, at) values ($1, decode($2, 'hex'), $3)
    on conflict (name) do update set content = excluded.content, at = excluded.at`,
    name,
    hexOf(content),
    at,
  )
}

/**
 * Writes a file if there is none. If several nodes do so at the same moment, one wins.
 *
 * @returns the file as it is now
 */
export async function keepFileIfAbsent(
  queries: Queries,
  { name, content, at }: KeptFile,
): Promise<KeptFile> {
  // A statement does not see what others have inserted since it began, so another statement reads the row.
  await queries.run(
    `insert into cairn_files (name, content, at) values ($1, decode($2, 'hex'), $3)
    on conflict (name) do nothing`,
    name,
    hexOf(content),
    at,
  )
  // Another may have deleted it in between.
  return (await keptFile(queries, name)) ?? keepFileIfAbsent(queries, { name, content, at })
}

/** All files whose names begin with a prefix, ordered by name. */
export const keptFiles = (queries: Queries, prefix: string): Promise<KeptFile[]> =>
  queries.all<KeptFile>(
    `select ${columns} from cairn_files where starts_with(name, $1) order by name`,
    prefix,
  )
