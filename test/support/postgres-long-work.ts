import type { ManagementStores } from '../../src/app.ts'
import { Postgres } from '../../src/storage/postgres/database/connection.ts'
import { erasePerson } from '../../src/storage/postgres/people/erase-person.ts'
import type { LongWorkParts } from '../../src/storage/postgres/people/long-work.ts'
import { personDataOver } from '../../src/storage/postgres/people/person-data.ts'
import { rebuild, refuseToCompact } from '../../src/storage/postgres/rebuild/rebuild.ts'
import { asPort, type InRows } from '../../src/storage/shared/in-rows.ts'
import type { Store } from '../storage/conformance/store.ts'
import { PostgresWorld } from './postgres-world.ts'

type People = ManagementStores['people']

/** A node with its long work, over connections of its own. */
export class LongWorkNode {
  readonly parts: LongWorkParts
  readonly store: Store

  private constructor(readonly world: PostgresWorld) {
    const { url, storage, clock, stores } = world
    const parts = storage.longWork
    const { postgres } = parts
    const people: InRows<Pick<People, 'stored' | 'erase' | 'allow'>> = {
      stored: personDataOver(postgres, parts.reading),
      erase: (person, _options, audit, tell) => erasePerson(parts, person, audit, tell),
      allow: (...args) => parts.changes.allowPerson(...args),
    }
    const { management } = world
    this.parts = parts
    this.store = {
      stores,
      management: {
        ...management,
        people: { ...management.people, ...asPort<typeof people & People>(people as never) },
        operations: {
          ...management.operations,
          rebuild: (audit, tell) => rebuild(parts, audit, tell),
          compact: refuseToCompact,
        },
      },
      clock,
      keptBeyondMs: 24 * 3_600_000,
      settle: async () => {},
      async retain(days) {
        storage.retentionDays = days
        while ((await storage.retain()) < 1_000);
      },
      refuse() {
        throw new Error('Nothing is refused here')
      },
      traces: texts => textsInRows(url, texts),
      reopen() {
        throw new Error('It stays open')
      },
      close: async () => {
        await world.close()
      },
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
