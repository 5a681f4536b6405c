import { afterAll, beforeAll } from 'bun:test'
import { Pgbouncer } from '../../scripts/support/pgbouncer.ts'
import type { ManagementStores } from '../../src/app.ts'
import { erasePerson } from '../../src/storage/postgres/people/erase-person.ts'
import { describe, PostgresServer } from '../support/postgres.ts'
import { textsInRows } from '../support/postgres-long-work.ts'
import { PostgresWorld } from '../support/postgres-world.ts'
import { conformance } from './conformance/conformance.ts'
import { defaultRounds, type Rounds, type Store } from './conformance/store.ts'

describe('over PostgreSQL', () => {
  let server: PostgresServer
  let pooler: Pgbouncer | null = null
  beforeAll(async () => {
    server = await PostgresServer.open()
    // It takes too long to do twice each time. With `CAIRN_TEST_POOLER=1` all goes through PgBouncer.
    if (process.env.CAIRN_TEST_POOLER) pooler = await Pgbouncer.open(server.port)
  })
  afterAll(async () => {
    await pooler?.close()
    await server?.close()
  })

  // A case takes hundreds of round trips.
  const rounds: Rounds = byDefault => defaultRounds(Math.ceil(byDefault / 8))

  // The suite moves the clock by months, and no node's lease may run out meanwhile.
  const node = { lease: { leaseMs: 100 * 365 * 86_400_000, renewMs: 5_000 } }

  // Small, because the histories have few runs.
  const sealPolicy = { runsPerSegment: 2, settledMs: 0, pauseMs: 0 }

  const open = async (): Promise<Store> => {
    const own = await server.newDatabase()
    const url = pooler?.through(own) ?? own
    let world = await PostgresWorld.open(url, undefined, node, { sealPolicy })
    // In this thread, so that it ends when the caller goes away, as if the node were killed.
    const cutOff: ManagementStores['people']['erase'] = (person, _, audit, tell) =>
      erasePerson(world.storage.longWork, person as never, audit, tell)
    return {
      clock: world.clock,
      keptBeyondMs: 24 * 3_600_000,
      get stores() {
        return world.stores
      },
      get management() {
        return { ...world.management, people: { ...world.management.people, erase: cutOff } }
      },
      async settle() {
        await world.sealAll()
      },
      async retain(days) {
        world.storage.retentionDays = days
        while ((await world.storage.retain()) < 1_000);
      },
      async refuse(text) {
        await world.storage.postgres.script(
          `create function poison() returns trigger language plpgsql as $$
            begin raise exception 'poisoned'; end $$;
          create trigger poison before insert on events for each row
            when (strpos(new::text, '${text}') > 0) execute function poison()`,
        )
        return () =>
          world.storage.postgres.script('drop trigger poison on events; drop function poison()')
      },
      traces: texts => textsInRows(own, texts),
      async reopen() {
        const { clock } = world
        await world.close()
        world = await PostgresWorld.open(url, clock, node, { sealPolicy })
      },
      close: () => world.close(),
    }
  }

  conformance('PostgreSQL', open, rounds)
})
