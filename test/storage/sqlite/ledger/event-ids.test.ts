import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { eventsPerBatch } from '../../../../src/storage/sqlite/ledger/event-batches.ts'
import { EventIds, forgetIds } from '../../../../src/storage/sqlite/ledger/event-ids.ts'
import { rounds } from '../../../support/rounds.ts'

/** Few ids, so that many are sent again, in one request too. */
const request = fc.record({
  org: fc.nat(1),
  ids: fc.array(
    fc.nat(40).map(n => `id-${n}`),
    { minLength: 1, maxLength: 8 },
  ),
  end: fc.constantFrom('commit', 'commit', 'roll back', 'roll back to a savepoint', 'restart'),
})

test('an id is taken once in an organisation, whatever is sent again, rolled back or restarted', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 60 }), requests => {
      using database = new Database(':memory:', { strict: true })
      migrate(database)
      let ids = new EventIds(database)
      const taken = new Map<string, number>()
      for (const { org, ids: sent, end } of requests) {
        database.run('begin')
        database.run('savepoint apart')
        const seq = ids.newSeq()
        const duplicates = ids.take(org, sent, seq * eventsPerBatch)
        const before = new Set(taken.keys())
        const expected: number[] = []
        const stored = new Map<string, number>()
        for (const [place, id] of sent.entries()) {
          const key = `${org} ${id}`
          if (before.has(key) || stored.has(key)) expected.push(place)
          else stored.set(key, seq * eventsPerBatch + stored.size)
        }
        expect(duplicates).toEqual(expected)
        if (end === 'commit') {
          database.run(
            `insert into event_batches (seq, org_id, received_at, source, events, body)
            values (?, 0, 0, 0, 0, x'')`,
            [seq],
          )
          database.run('commit')
          ids.commit()
          for (const [key, event] of stored) taken.set(key, event)
        } else {
          const isApart = end === 'roll back to a savepoint'
          if (isApart) database.run('rollback to apart')
          database.run(isApart ? 'commit' : 'rollback')
          if (end === 'restart') ids = new EventIds(database)
          else if (isApart) ids.commit()
          else ids.rollback()
        }
      }
      const rows = database
        .query<{ key: string; event: number }, []>(
          "select org_id || ' ' || id as key, event from event_ids",
        )
        .all()
      expect(new Map(rows.map(({ key, event }) => [key, event]))).toEqual(taken)
    }),
    { numRuns: rounds(100) },
  )
})

test('a number is given once, also if no row was written under it', () => {
  using database = new Database(':memory:', { strict: true })
  migrate(database)
  const ids = new EventIds(database)
  const first = ids.newSeq()
  ids.commit()
  expect(ids.newSeq()).toBe(first + 1)
  ids.rollback()
  expect(ids.newSeq()).toBe(first + 1)
  ids.startAt(10)
  expect(ids.newSeq()).toBe(10)
})

test('an id that another machine has stored again stays when the older event with it is deleted here', () => {
  using database = new Database(':memory:', { strict: true })
  migrate(database)
  const ids = new EventIds(database)
  ids.take(1, ['first', 'again'], eventsPerBatch)
  ids.takeUp(1, ['again'], 7 * eventsPerBatch)
  forgetIds(database)(1, 1, ['first', 'again'])
  const rows = database.query('select id, event from event_ids').values()
  expect(rows).toEqual([['again', 7 * eventsPerBatch]])
})
