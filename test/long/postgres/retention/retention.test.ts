import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import fc from 'fast-check'
import { until } from '../../../../scripts/support/until.ts'
import { asRows, Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import { dayOf } from '../../../../src/storage/postgres/events/event-rows.ts'
import { bucketOf, idInText, weekOf } from '../../../../src/storage/postgres/ledger/event-id.ts'
import {
  daysWithTable,
  makePartitions,
} from '../../../../src/storage/postgres/retention/partitions.ts'
import {
  type DeleteOld,
  type PassReport,
  Retention,
} from '../../../../src/storage/postgres/retention/retention.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { ClockWatch } from '../../../../src/storage/sqlite/retention/clock-watch.ts'
import { HandClock } from '../../../support/hand-clock.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const week = 7 * day

interface Sent {
  org?: number
  flow?: number | null
  id?: string
  occurredAt?: number
}

describe('the retention over PostgreSQL', () => {
  let server: PostgresServer
  let url: string
  let postgres: Postgres
  let copy: Database
  let clock: HandClock
  let retention: Retention
  let lastSeq: number

  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    url = await server.newDatabase()
    postgres = Postgres.open(url, { most: 4 })
    copy = new Database(':memory:')
    migrate(copy, 0)
    for (const org of [1, 2, 3]) {
      copy.run(
        `insert into organisations (id, public_id, slug, name, created_at)
        values (${org}, 'org_${org}', 'o${org}', 'O', 0)`,
      )
      await postgres.run('insert into ledgers (org_id) values ($1)', org)
    }
    clock = new HandClock(Date.UTC(2026, 0, 10, 12))
    lastSeq = 0
    start()
  })
  afterEach(async () => {
    await postgres.close()
    copy.close()
  })
  afterAll(() => server?.close())

  /** Starts again, as when another node takes the work over. */
  const start = (others: readonly DeleteOld[] = []) => {
    const clockWatch = new ClockWatch(clock)
    retention = new Retention({ postgres, copy, clock, clockWatch, others })
  }
  const keep = (org: number, days: number | null) =>
    copy.run('update organisations set retention_days = ? where id = ?', [days, org])

  /** A whole pass. */
  const retain = async (days = 90): Promise<Omit<PassReport, 'isMoreLeft'>> => {
    let deleted = 0
    for (;;) {
      const report = await retention.retain(days)
      deleted += report.deleted
      if (!report.isMoreLeft) return { deleted, oldestAt: report.oldestAt }
    }
  }

  /** Stores events that are received now. */
  const send = async (...events: readonly Sent[]) => {
    const now = clock.now()
    const rows = events.map(({ org = 1, flow = 7, id = `e${lastSeq + 1}`, occurredAt = now }) => ({
      ...{ org_id: org, seq: ++lastSeq, day: dayOf(now), id, kind: 'custom', source: 'events' },
      ...{ flow_id: flow, occurred_at: occurredAt, received_at: now },
    }))
    await postgres.run(
      'insert into events select * from json_populate_recordset(null::events, $1::text::json)',
      asRows(rows),
    )
    const ids = rows.map(({ org_id, id, received_at }) => ({
      ...{ org_id, bucket: bucketOf(id), id: idInText(id), received_at },
    }))
    await postgres.run(
      'insert into event_ids select * from json_populate_recordset(null::event_ids, $1::text::json)',
      asRows(ids),
    )
  }

  const idsOf = async (org = 1) => {
    const rows = await postgres.all<{ id: string }>(
      'select id from events where org_id = $1 order by seq',
      org,
    )
    return rows.map(({ id }) => id)
  }
  const notes = () =>
    postgres.all<{ org_id: number; flow_id: number; last_at: number }>(
      'select org_id, flow_id, last_at from deleted_events order by org_id, flow_id',
    )
  const tableOf = async (id: string) =>
    (
      await postgres.get<{ name: string }>(
        'select tableoid::regclass::text as name from events where id = $1',
        id,
      )
    )?.name
  const knownIds = async () => (await postgres.all('select 1 from event_ids')).length

  describe('tables of days and weeks', () => {
    test('take what is received on their days; everything else goes into the default', async () => {
      await makePartitions(postgres, clock.now())
      await send({ id: 'now' })
      clock.advance(4 * day)
      await send({ id: 'later' })
      expect(await tableOf('now')).toBe(`events_d${dayOf(clock.now()) - 4}`)
      expect(await tableOf('later')).toBe('events_default')
    })

    test('are not made if the default has events of their day, which stay there', async () => {
      await send({ id: 'a' })
      await makePartitions(postgres, clock.now())
      const today = dayOf(clock.now())
      expect(await daysWithTable(postgres)).toEqual([1, 2, 3].map(ahead => today + ahead))
      expect(await tableOf('a')).toBe('events_default')
    })

    test('take over ids that pages with a wrong clock have sent earlier', async () => {
      await makePartitions(postgres, clock.now())
      const early = [3, 3, 4].map(weeks => Bun.randomUUIDv7('hex', clock.now() + weeks * week))
      await send(...early.map(id => ({ id })))
      const tablesOf = async () => {
        const rows = await postgres.all<{ table: string; ids: number }>(
          `select tableoid::regclass::text as table, count(*)::bigint as ids from event_ids
          group by 1 order by 1`,
        )
        return Object.fromEntries(rows.map(({ table, ids }) => [table, ids]))
      }
      expect(await tablesOf()).toEqual({ event_ids_default: 3 })
      clock.advance(week)
      await makePartitions(postgres, clock.now())
      expect(await tablesOf()).toEqual({
        event_ids_default: 1,
        [`event_ids_w${weekOf(clock.now()) + 2}`]: 2,
      })
    })

    test('do not wait for others for long: they are made and dropped another time', async () => {
      await makePartitions(postgres, clock.now())
      const today = dayOf(clock.now())
      await send({ id: 'a' })
      clock.advance(91 * day)
      await postgres.begin(async reader => {
        await reader.all('select * from events')
        await reader.all('select * from events_default')
        expect((await retain()).deleted).toBe(0)
        expect(await idsOf()).toEqual(['a'])
        // Nothing was noted for it either.
        expect(await notes()).toEqual([])
      })
      expect((await retain()).deleted).toBe(1)
      const days = await daysWithTable(postgres)
      expect(days).not.toContain(today)
      expect(days).toContain(dayOf(clock.now()))
    })
  })

  describe('events', () => {
    test('dated by a clock that ran ahead do not keep others from being deleted', async () => {
      clock.advance(365 * day)
      await send({ id: 'ahead' })
      clock.advance(-365 * day)
      await send({ id: 'a' })
      clock.advance(91 * day)
      await retain()
      expect(await idsOf()).toEqual(['ahead'])
    })

    test('are deleted only once nobody writes to the ledger of their organisation', async () => {
      await send({ id: 'a' })
      clock.advance(91 * day)
      let waiting: Promise<unknown> | undefined
      await postgres.begin(async writer => {
        await writer.all('select 1 from ledgers where org_id = 1 for update')
        waiting = retain()
        const waiter = "select 1 from pg_stat_activity where wait_event_type = 'Lock'"
        await until(async () => (await postgres.get(waiter)) !== null)
        expect(await idsOf()).toEqual(['a'])
      })
      await waiting
      expect(await idsOf()).toEqual([])
    })

    test('are kept for each organisation’s own period, whatever was set in between', async () => {
      const period = fc.option(fc.integer({ min: 1, max: 8 }))
      const act = fc.oneof(
        {
          weight: 5,
          arbitrary: fc.record({
            send: fc.integer({ min: 1, max: 3 }),
            flow: fc.integer({ min: 1, max: 2 }),
          }),
        },
        { weight: 4, arbitrary: fc.record({ advance: fc.integer({ min: 1, max: 60 }) }) },
        { weight: 2, arbitrary: fc.record({ retain: fc.integer({ min: 2, max: 6 }) }) },
        {
          weight: 1,
          arbitrary: fc.record({ keep: fc.integer({ min: 1, max: 3 }), days: period }),
        },
        { weight: 1, arbitrary: fc.constant({ restart: true }) },
      )
      let deleted = 0
      await fc.assert(
        fc.asyncProperty(fc.array(act, { minLength: 30, maxLength: 80 }), async acts => {
          await postgres.script('delete from events; delete from event_ids')
          await postgres.script('delete from deleted_events')
          for (const org of [1, 2, 3]) keep(org, null)
          let stored: { org: number; flow: number; id: string; at: number }[] = []
          const noted = new Map<string, number>()
          for (const act of acts) {
            if ('advance' in act) clock.advance(act.advance * hour)
            else if ('restart' in act) start()
            else if ('keep' in act) keep(act.keep, act.days)
            else if ('send' in act) {
              const event = { org: act.send, flow: act.flow, id: `e${lastSeq + 1}` }
              stored.push({ ...event, at: clock.now() })
              await send(event)
            } else {
              await retain(act.retain)
              const periods = new Map(
                copy
                  .query<[number, number | null], []>(
                    'select id, retention_days from organisations',
                  )
                  .values() as [number, number | null][],
              )
              const isOld = ({ org, at }: { org: number; at: number }) =>
                dayOf(at) < dayOf(clock.now()) - (periods.get(org) ?? act.retain)
              for (const { org, flow, at } of stored.filter(isOld)) {
                deleted++
                const key = `${org} ${flow}`
                noted.set(key, Math.max(at, noted.get(key) ?? 0))
              }
              stored = stored.filter(event => !isOld(event))
            }
          }
          for (const org of [1, 2, 3]) {
            const own = stored.filter(event => event.org === org).map(({ id }) => id)
            expect(await idsOf(org)).toEqual(own)
          }
          const rows = await notes()
          const found = rows.map(row => [`${row.org_id} ${row.flow_id}`, row.last_at])
          expect(Object.fromEntries(found)).toEqual(Object.fromEntries(noted))
        }),
        { numRuns: 8 },
      )
      expect(deleted).toBeGreaterThan(30)
    })
  })

  describe('ids', () => {
    const version7 = () => Bun.randomUUIDv7('hex', clock.now())

    test('are known for a day longer than their events are accepted, in all forms', async () => {
      await retain()
      const forms = () => [version7(), crypto.randomUUID(), `text ${lastSeq}`]
      await send(...forms().map(id => ({ id })))
      // Of a week that has no table.
      const early = clock.now() - 99 * week
      await send({ id: Bun.randomUUIDv7('hex', early) })
      clock.advance(91 * day)
      await retain()
      expect([await knownIds(), await idsOf()]).toEqual([4, []])
      clock.advance(7 * day)
      await send(...forms().map(id => ({ id })))
      await retain()
      expect(await knownIds()).toBe(3)
    })
  })

  describe('a clock that is set', () => {
    test('years ahead deletes nothing for an hour, and nothing once it is set back', async () => {
      await send({ id: 'a' })
      await retain()
      clock.wallMs += 1_000 * day
      for (let waited = 0; waited < hour; waited += 10 * minute) {
        await retain()
        clock.advance(10 * minute - 1)
      }
      clock.wallMs -= 1_000 * day
      await retain()
      clock.advance(2 * hour)
      await retain()
      expect(await idsOf()).toEqual(['a'])
    })
  })

  describe('what else grows old', () => {
    test('changes of the catalogue go after a day, unless a younger one precedes them', async () => {
      const now = clock.now()
      const ages = [30, 26, 2, 25, 1].map(hours => now - hours * hour)
      for (const [place, at] of ages.entries()) {
        await postgres.run(
          `insert into catalogue_log (seq, place, table_name, key, at) values ($1, 0, '', '', $2)`,
          place + 1,
          at,
        )
      }
      const left = async () =>
        (await postgres.all<{ seq: number }>('select seq from catalogue_log order by seq')).map(
          ({ seq }) => seq,
        )
      await retain()
      expect(await left()).toEqual([3, 4, 5])
      clock.advance(day)
      await retain()
      expect(await left()).toEqual([])
    })

    test('receipts go after a day by PostgreSQL’s clock, whichever page they are on', async () => {
      const insert = (count: number, age: string) =>
        postgres.run(
          `insert into receipts (id, at) select gen_random_uuid(), now() - $2::text::interval
          from generate_series(1, $1::integer)`,
          count,
          age,
        )
      await insert(30_000, '25 hours')
      await insert(7, '23 hours')
      await insert(30_000, '25 hours')
      await retain()
      expect(await postgres.all('select * from receipts')).toHaveLength(7)
    })

    test('nodes that went without leaving properly are forgotten after a day', async () => {
      await postgres.run(
        `insert into nodes (id, name, release, schema, started_at, took_up, lease_until)
        values ('a', 'a', '1', 1, 0, 0, now() - interval '25 hours'),
          ('b', 'b', '1', 1, 0, 0, now() - interval '23 hours')`,
      )
      await retain()
      expect(await postgres.all('select id from nodes')).toEqual([{ id: 'b' }])
    })
  })
})
