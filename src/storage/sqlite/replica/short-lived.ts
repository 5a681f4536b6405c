import type { Database } from 'bun:sqlite'
import { AuthorSessions, type KeptSession } from '../../shared/author/author-sessions.ts'
import { type KeptPreview, PreviewLinks } from '../../shared/author/previews.ts'

/** A kind of state that a server alone keeps in memory. */
interface Kind<State extends { readonly held: Iterable<{ id: string }> }> {
  name: string
  over(held: readonly never[]): State
}

/** State that does not last, in a table that all machines share. */
class ShortLived<State extends { readonly held: Iterable<{ id: string }> }> {
  private readonly load
  private readonly put
  private readonly remove

  /** @param change makes a change that all machines take up */
  constructor(
    database: Database,
    private readonly kind: Kind<State>,
    private readonly change: <T>(work: () => T) => Promise<T>,
  ) {
    this.load = database.query<{ id: string; content: string }, [string]>(
      'select id, content from short_lived where kind = ? order by id',
    )
    this.put = database.query(
      `insert into short_lived (kind, id, content) values (?, ?, ?)
      on conflict do update set content = excluded.content`,
    )
    this.remove = database.query('delete from short_lived where kind = ? and id = ?')
  }

  /** Does something with the state as all machines have it, and keeps what changes. */
  use<T>(work: (state: State) => T): Promise<T> {
    return this.change(() => {
      const stored = this.load.all(this.kind.name)
      const before = new Map(stored.map(({ id, content }) => [id, content]))
      const held = stored.map(({ content }) => JSON.parse(content) as never)
      const state = this.kind.over(held)
      const result = work(state)
      for (const one of state.held) {
        const content = JSON.stringify(one)
        if (before.get(one.id) !== content) this.put.run(this.kind.name, one.id, content)
        before.delete(one.id)
      }
      for (const id of before.keys()) this.remove.run(this.kind.name, id)
      return result
    })
  }
}

type Change = <T>(work: () => T) => Promise<T>

/** In the order in which they were begun. */
const inOrder = <Kept>(held: readonly Kept[], at: (one: Kept) => number) =>
  [...held].sort((a, b) => at(a) - at(b))

export const sharedAuthorSessions = (database: Database, change: Change) =>
  new ShortLived<AuthorSessions>(
    database,
    {
      name: 'author session',
      over: held => new AuthorSessions(inOrder<KeptSession>(held, ({ begunAt }) => begunAt)),
    },
    change,
  )

export const sharedPreviews = (database: Database, change: Change) =>
  new ShortLived<PreviewLinks>(
    database,
    {
      name: 'preview',
      over: held => new PreviewLinks(inOrder<KeptPreview>(held, ({ madeAt }) => madeAt)),
    },
    change,
  )
