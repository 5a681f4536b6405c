import { Postgres } from '../../src/storage/postgres/database/connection.ts'
import { erasePerson } from '../../src/storage/postgres/people/erase-person.ts'
import type { LongWorkParts } from '../../src/storage/postgres/people/long-work.ts'
import type { Store } from '../storage/conformance/store.ts'
import { PostgresWorld } from './postgres-world.ts'

/** A node that erases people in this thread, so that a test can stop it as if it were killed. */
export class LongWorkNode {
  readonly parts: LongWorkParts
  readonly store: Pick<Store, 'stores' | 'management' | 'clock' | 'traces' | 'close'>

  private constructor(readonly world: PostgresWorld) {
    const { url, storage, clock, stores, management } = world
    this.parts = storage.longWork
    const erase: (typeof management.people)['erase'] = (person, _options, audit, tell) =>
      erasePerson(this.parts, person as never, audit, tell)
    this.store = {
      ...{ stores, clock },
      management: { ...management, people: { ...management.people, erase } },
      traces: texts => textsInRows(url, texts),
      close: () => world.close(),
    }
  }

  static async open(...args: Parameters<typeof PostgresWorld.open>): Promise<LongWorkNode> {
    return new LongWorkNode(await PostgresWorld.open(...args))
  }
}

/** Tables about no person. A random id in them may happen to contain `ada-4`. */
const ofNobody = ['receipts', 'nodes', 'jobs']

/** Which of some texts occur in any row of a database, in a text or in the bytes of an id. */
export async function textsInRows(url: string, texts: readonly string[]): Promise<string[]> {
  const postgres = Postgres.open(url, { most: 1 })
  try {
    // A partitioned table has the rows of all of its partitions.
    const tables = await postgres.all<{ name: string }>(
      `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
    )
    const values: string[] = []
    for (const { name } of tables.filter(({ name }) => !ofNobody.includes(name))) {
      const rows = await postgres.all<Record<string, unknown>>(`select * from ${name}`)
      for (const value of rows.flatMap(Object.values)) {
        values.push(
          value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : `${value}`,
        )
      }
    }
    return texts.filter(text => {
      const bytes = Buffer.from(text).toString('latin1')
      return values.some(value => value.includes(text) || value.includes(bytes))
    })
  } finally {
    await postgres.close()
  }
}
