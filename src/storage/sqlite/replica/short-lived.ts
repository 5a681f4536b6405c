import type { Database } from 'bun:sqlite'

type State = { readonly held: Iterable<{ id: string }> }

/** State that does not last, in a table that all machines share. A server alone keeps it in memory. */
export class ShortLived<Kept extends State> {
  private readonly load
  private readonly put
  private readonly remove

  /**
   * @param over makes the state of what is held, in the order of its ids
   * @param change makes a change that all machines take up
   */
  constructor(
    database: Database,
    private readonly kind: 'ticket' | 'activity',
    private readonly over: (held: never[]) => Kept,
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

  /** The state as it is known here; what changes in it is not kept. */
  read(): Kept {
    return this.over(this.load.all(this.kind).map(({ content }) => JSON.parse(content) as never))
  }

  /** Does something with the state as all machines have it, and keeps what changes. */
  use<T>(work: (state: Kept) => T): Promise<T> {
    return this.change(() => this.within(work))
  }

  /** The same within a change. */
  within<T>(work: (state: Kept) => T): T {
    const before = new Map(this.load.all(this.kind).map(({ id, content }) => [id, content]))
    const state = this.read()
    const result = work(state)
    for (const one of state.held) {
      const content = JSON.stringify(one)
      if (before.get(one.id) !== content) this.put.run(this.kind, one.id, content)
      before.delete(one.id)
    }
    for (const id of before.keys()) this.remove.run(this.kind, id)
    return result
  }
}
