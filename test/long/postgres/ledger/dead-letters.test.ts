import { afterAll, beforeAll, beforeEach, expect } from 'bun:test'
import { Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import {
  bury,
  deadLetterIds,
  deleteDeadLetters,
  keepDeadLetter,
  listDeadLetters,
  takeDeadLetters,
} from '../../../../src/storage/postgres/ledger/dead-letters.ts'
import { noEvent } from '../../../../src/storage/sqlite/engine/event-codec/event-text.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

const event = (id: string) => ({
  ...noEvent,
  ...{ id, kind: 'flow_started' as const, userId: 'u', flowRef: 7, occurredAt: 1, url: 'a\0b' },
})
const tick = {
  ...{ type: 'tick' as const, orgRow: 1, flowRow: 7, receivedAt: 3, userId: 'u' },
  ...{ anonymousId: null, items: [{ itemRow: 9, completed: true }] },
}

describe('dead letters in PostgreSQL', () => {
  let server: PostgresServer
  let postgres: Postgres
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    await postgres?.close()
    postgres = Postgres.open(await server.newDatabase(), { most: 4 })
    for (const row of [1, 2]) {
      await postgres.run(
        `insert into organisations (id, public_id, slug, name, created_at)
        values ($1, $2, $2, $2, 0)`,
        ...[row, `org_${row}`],
      )
    }
  })
  afterAll(async () => {
    await postgres?.close(true)
    await server?.close()
  })

  const ids = async (orgRow: number | null) =>
    (await deadLetterIds(postgres, orgRow)).map(({ id }) => id)

  test('are listed with time, kind and reason, for one organisation or for all', async () => {
    await bury(postgres, 1, 2, new Error('not\0taken'), event('a'))
    await bury(postgres, 1, 3, 'why', tick as never)
    await bury(postgres, 2, 4, 'why', event('b'))
    const [a, ticked, b] = (await ids(null)) as [number, number, number]
    const ofEvent = { kind: 'flow_started', eventId: 'a', reason: 'Error: not\ufffdtaken' }
    expect(await listDeadLetters(postgres, 1, 10)).toEqual({
      letters: [
        { id: a, organisation: 'org_1', receivedAt: 2, ...ofEvent },
        {
          ...{ id: ticked, organisation: 'org_1', receivedAt: 3 },
          ...{ kind: 'tick', eventId: null, reason: 'why' },
        },
      ],
      count: 2,
    })
    expect(await listDeadLetters(postgres, null, 1)).toMatchObject({ letters: [{}], count: 3 })
    expect(await deadLetterIds(postgres, 2)).toEqual([{ id: b, orgRef: 2 }])
    const refused = await postgres.all('select org_id, code, count from refusals order by org_id')
    expect([...refused]).toEqual([
      { org_id: 1, code: 'storage', count: 2 },
      { org_id: 2, code: 'storage', count: 1 },
    ])
  })

  test('are not made of commands that only count something', async () => {
    await bury(postgres, 1, 2, 'why', { type: 'refusal', orgRow: 1, code: 'x', at: 2 })
    await bury(postgres, 1, 2, 'why', { type: 'snippet_version', orgRow: 1, version: '1', at: 2 })
    expect(await ids(null)).toEqual([])
  })

  test('are taken complete, by their own organisation alone, in the order that is asked for', async () => {
    await bury(postgres, 1, 2, 'why', event('a'))
    await bury(postgres, 1, 3, 'why', tick as never)
    await bury(postgres, 2, 4, 'why', event('b'))
    const [a, ticked, b] = (await ids(null)) as [number, number, number]
    expect(await takeDeadLetters(postgres, 1, [ticked, b, a, 99, a])).toEqual([
      { id: ticked, at: 3, letter: tick },
      { id: a, at: 2, letter: event('a') },
    ])
    expect(await takeDeadLetters(postgres, 1, [])).toEqual([])
    await keepDeadLetter(postgres, 2, a, 'not its own')
    await keepDeadLetter(postgres, 1, a, new Error('again'))
    const { letters } = await listDeadLetters(postgres, 1, 1)
    expect(letters).toMatchObject([{ id: a, reason: 'Error: again' }])
    expect(await deleteDeadLetters(postgres, 2, [a, ticked])).toEqual([])
    expect(await deleteDeadLetters(postgres, 1, [ticked, b, a, a])).toEqual([ticked, a])
    expect(await ids(null)).toEqual([b])
  })
})
