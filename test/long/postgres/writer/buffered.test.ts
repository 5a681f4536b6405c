import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import { cutAtCommitOf, TcpProxy } from '../../../../scripts/support/tcp-proxy.ts'
import { until } from '../../../../scripts/support/until.ts'
import { definitionOf, Tenant } from '../../../storage/conformance/tenant.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'
import { PostgresWorld } from '../../../support/postgres-world.ts'

describe('what was acknowledged before it was committed', () => {
  let server: PostgresServer
  let proxy: TcpProxy
  let url: string
  let world: PostgresWorld
  let tenant: Tenant
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    proxy = await TcpProxy.open(server.port)
    url = await server.newDatabase()
    world = await PostgresWorld.open(proxy.through(url), undefined, {}, { ack: 'buffer' })
    tenant = await Tenant.of(world as never)
    await tenant.publish(definitionOf({ key: 'welcome', steps: [{ key: 'a', kind: 'modal' }] }))
  })
  afterEach(async () => {
    await world.close()
    await proxy.close()
  })
  afterAll(() => server?.close())

  const send = (id: string) =>
    tenant.append(
      [
        tenant.event(`start ${id}`, {
          flowKey: 'welcome',
          kind: 'flow_started',
          userId: id,
          runId: id,
        }),
        tenant.event(id, { kind: 'custom', name: 'x', userId: id }),
      ],
      { refusals: { invalid: 1 } },
    )
  const counted = async <Row>(text: string) => (await server.ask<Row>(text, url)).map(row => row)

  /** What becomes of a commit whose outcome nobody can find out. */
  const ways = {
    made: (id: string) => cutAtCommitOf(id, 'silent'),
    'not made': (id: string): TcpProxy['cutAt'] => {
      const cutAt = cutAtCommitOf(id, 'before')
      return (...sent) => {
        const cut = cutAt(...sent)
        if (cut !== null) proxy.freeze()
        return cut
      }
    },
  }
  test.each(Object.entries(ways))(
    'is stored once if its commit was in doubt, and was %s',
    async (way, cutAtCommit) => {
      proxy.cutAt = cutAtCommit('doubted')
      await send('doubted')
      await until(() => world.storage.groups.doubts.unknown === 1)
      const isThere = await counted<{ id: string }>(`select id from events where id = 'doubted'`)
      expect(isThere).toHaveLength(way === 'made' ? 1 : 0)
      proxy.thaw()
      await until(async () => (await world.storage.flush()) === 0)
      await send('behind it')
      await world.storage.flush()
      const rows = await counted<{ id: string }>('select id from events order by seq')
      expect(rows.map(({ id }) => id)).toEqual([
        ...['start doubted', 'doubted', 'start behind it', 'behind it'],
      ])
      const runs = await counted<{ person: string }>('select person from runs order by id')
      expect(runs.map(({ person }) => person)).toEqual(['udoubted', 'ubehind it'])
      const [refused] = await counted<{ count: number }>(
        'select sum(count)::int as count from refusals',
      )
      // A count has no id by which it would be recognised, so it is rather too low than too high.
      expect(refused).toEqual({ count: way === 'made' ? 2 : 1 })
    },
  )
})
