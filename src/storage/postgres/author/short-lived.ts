import type { NewAuthorSession } from '../../../modules/author/port.ts'
import type { NewPreview } from '../../../modules/previews/port.ts'
import {
  AuthorSessions,
  forgottenAt,
  type KeptSession,
} from '../../shared/author/author-sessions.ts'
import { type Call, carryOut } from '../../shared/author/call.ts'
import { type KeptPreview, PreviewLinks } from '../../shared/author/previews.ts'
import { asRows, type Queries } from '../database/connection.ts'
import type { Transactions } from '../writer/transactions.ts'

/**
 * Author sessions and links to previews, which any node may be asked about. A call locks and loads those that it
 * may concern, changes them with the same code as in a server alone, and writes what has changed.
 */

/** What a call may concern: all of an organisation, or all that have one of some names. */
interface Concerned {
  orgRow?: number
  names?: readonly string[]
  /** If it begins another one, which counts together with all others: when, epoch milliseconds. */
  begunAt?: number
}

/** Those that exist but are not loaded. */
interface Elsewhere {
  count: number
  size: number
}

/** How a kind of state is kept. */
interface Kind<State, Kept> {
  name: string
  concerned(call: Call<string, State>): Concerned
  over(held: readonly Kept[], elsewhere: Elsewhere): State
  namesOf(kept: Kept): readonly (string | null)[]
  sizeOf(kept: Kept): number
  forgottenAt(kept: Kept): number
}

interface Identified {
  id: string
  orgRow: number
}

/** State of one kind, in the table that all kinds share. */
class ShortLived<State extends { held: Iterable<Kept> }, Kept extends Identified> {
  constructor(
    private readonly transactions: Transactions,
    private readonly kind: Kind<State, Kept>,
  ) {}

  call(call: Call<string, State>): Promise<unknown> {
    const { kind } = this
    const concerned = kind.concerned(call)
    return this.transactions.run(async queries => {
      const elsewhere = await this.elsewhere(queries, concerned)
      const rows = await this.load(queries, concerned)
      const held = rows.map(({ content }) => JSON.parse(content) as Kept)
      const state = kind.over(held, elsewhere)
      const result = carryOut(state, call)
      await this.write(queries, new Map(rows.map(({ id, content }) => [id, content])), state)
      return result
    })
  }

  private load(queries: Queries, { orgRow = -1, names = [] }: Concerned) {
    return queries.all<{ id: string; content: string }>(
      `select id, content from short_lived
      where kind = $1 and (org_id = $2 or names::jsonb ?| array(
        select json_array_elements_text($3::text::json)))
      order by seq for update`,
      this.kind.name,
      orgRow,
      JSON.stringify(names),
    )
  }

  /** Counts those of other organisations if another one is begun. Nodes that do so at once take turns. */
  private async elsewhere(
    queries: Queries,
    { orgRow = -1, begunAt }: Concerned,
  ): Promise<Elsewhere> {
    if (begunAt === undefined) return { count: 0, size: 0 }
    await queries.run('lock table short_lived in share row exclusive mode')
    // By this node's clock. The retention deletes them, by a clock that is known to be right.
    const found = await queries.get<Elsewhere>(
      `select count(*) as count, coalesce(sum(size), 0)::bigint as size from short_lived
      where kind = $1 and org_id <> $2 and forgotten_at > $3`,
      this.kind.name,
      orgRow,
      begunAt,
    )
    return found!
  }

  private async write(
    queries: Queries,
    before: ReadonlyMap<string, string>,
    state: State,
  ): Promise<void> {
    const { kind } = this
    const kept = [...state.held]
    const rows = kept.map(one => ({
      ...{ kind: kind.name, id: one.id, org_id: one.orgRow, size: kind.sizeOf(one) },
      names: JSON.stringify(kind.namesOf(one).filter(name => name !== null)),
      forgotten_at: kind.forgottenAt(one),
      content: JSON.stringify(one),
    }))
    const changed = rows.filter(({ id, content }) => before.get(id) !== content)
    if (changed.length > 0) {
      await queries.run(
        `insert into short_lived (kind, id, org_id, names, size, forgotten_at, content)
        select kind, id, org_id, names, size, forgotten_at, content
        from json_populate_recordset(null::short_lived, $1::text::json)
        on conflict (kind, id) do update set names = excluded.names,
          forgotten_at = excluded.forgotten_at, content = excluded.content`,
        asRows(changed),
      )
    }
    const ids = new Set(kept.map(({ id }) => id))
    const gone = [...before.keys()].filter(id => !ids.has(id))
    if (gone.length > 0) {
      await queries.run(
        `delete from short_lived where kind = $1 and id in (
          select json_array_elements_text($2::text::json))`,
        kind.name,
        JSON.stringify(gone),
      )
    }
  }
}

const sessions: Kind<AuthorSessions, KeptSession> = {
  name: 'author session',
  concerned({ verb, input }) {
    const [first, second] = input as [never, never]
    if (verb === 'begin') return { orgRow: first, begunAt: (second as NewAuthorSession).begunAt }
    if (verb === 'read' || verb === 'end') return { names: [second] }
    // A wrong code that is typed counts for all sessions at its origin.
    if (verb === 'redeem') return { names: [(first as { sha256: string }).sha256, second] }
    return { names: [first] }
  },
  over: (held, { count }) => new AuthorSessions(held, count),
  namesOf: ({ id, origin, ticketSha256, codeSha256, visit }) => [
    ...[id, ticketSha256, visit?.tokenSha256 ?? null],
    // Without a code, nobody can type anything any more.
    codeSha256 === null ? null : origin,
  ],
  sizeOf: () => 0,
  forgottenAt,
}

const previews: Kind<PreviewLinks, KeptPreview> = {
  name: 'preview',
  concerned({ verb, input }) {
    const [first, second] = input as [never, never]
    if (verb === 'begin') return { orgRow: first, begunAt: (second as NewPreview).madeAt }
    if (verb === 'list') return { orgRow: first }
    return { names: [verb === 'end' ? second : first] }
  },
  over: (held, elsewhere) => new PreviewLinks(held, elsewhere),
  namesOf: ({ id, ticketSha256 }) => [id, ticketSha256],
  sizeOf: ({ size }) => size,
  forgottenAt: ({ expiresAt }) => expiresAt,
}

export const authorSessionsOver = (transactions: Transactions) =>
  new ShortLived(transactions, sessions)

export const previewsOver = (transactions: Transactions) => new ShortLived(transactions, previews)

/** Deletes what is not reported to anybody any more. */
export const deleteForgotten = (queries: Queries, now: number): Promise<number> =>
  queries.run('delete from short_lived where forgotten_at <= $1', now)
