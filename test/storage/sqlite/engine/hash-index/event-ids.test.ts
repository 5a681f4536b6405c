import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { migrate } from '../../../../../src/storage/sqlite/database/migrate.ts'
import {
  EventBatches,
  EventIds,
} from '../../../../../src/storage/sqlite/engine/event-codec/event-batches.ts'
import {
  encodeEvents,
  noEvent,
} from '../../../../../src/storage/sqlite/engine/event-codec/event-text.ts'
import { rounds } from '../../../../support/rounds.ts'

/** Small enough that a few hundred ids make segments, which are merged and merged again. */
const policy = { entriesPerSegment: 8, segmentBits: 1, entriesPerMergeStep: 4 }

function ledger() {
  const database = new Database(':memory:', { strict: true })
  migrate(database)
  const batches = new EventBatches(database)
  const open = () => {
    const ids = new EventIds(database, policy)
    /** Stores an id as the ledger does, and returns whether it was new. */
    const store = (org: number, id: string, at = 0) => {
      const batch = batches.withRoom(org, 'events', 1, () => ids.openBatch(org))
      const isNew = ids.take(batch.seq, id, at)
      if (isNew) batch.add(encodeEvents([{ ...noEvent, kind: 'custom', name: 'x', id }]), at)
      return isNew
    }
    const settle = () => {
      batches.flush()
      ids.closeBatches()
    }
    const commit = () => {
      settle()
      ids.beforeCommit()
      database.run('commit')
      ids.commit()
    }
    const rolledBack = () => {
      batches.rollback()
      ids.rollback()
    }
    batches.rollback()
    return { ids, store, settle, commit, rolledBack }
  }
  return { database, open }
}

type Action =
  | { type: 'store'; org: number; id: string }
  | { type: 'commit' | 'roll back' | 'crash' | 'savepoint' }

/** Few ids, so that many are sent again; some differ in one character or in their organisation. */
const id = fc.integer({ min: 0, max: 600 }).map(n => (n % 3 ? `id-${n}` : `${n}`.padStart(36, '0')))
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({ type: fc.constant('store' as const), org: fc.nat(2), id }),
  },
  { weight: 6, arbitrary: fc.constant({ type: 'commit' as const }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { type: 'roll back' as const },
      { type: 'crash' as const },
      { type: 'savepoint' as const },
    ),
  },
)

describe('an id is taken once', () => {
  test('as in a set, whatever is stored, rolled back, taken back or reopened in between', () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 200, maxLength: 1_500 }), actions => {
        const { database, open } = ledger()
        let { ids, store, settle, commit, rolledBack } = open()
        const committed = new Set<string>()
        let pending = new Set<string>()
        database.run('begin immediate')
        for (const step of actions) {
          if (step.type === 'store') {
            const key = `${step.org} ${step.id}`
            const isNew = !committed.has(key) && !pending.has(key)
            expect(store(step.org, step.id)).toBe(isNew)
            pending.add(key)
            continue
          }
          if (step.type === 'savepoint') {
            // One event fails, and its neighbours stay.
            settle()
            const mark = ids.savepoint()
            database.run('savepoint event')
            const wasNew = store(9, 'poison')
            expect(wasNew).toBe(true)
            settle()
            ids.rollbackTo(mark)
            database.run('rollback to event')
            database.run('release event')
            continue
          }
          if (step.type === 'commit') {
            commit()
            for (const key of pending) committed.add(key)
          } else {
            database.run('rollback')
            if (step.type === 'roll back') rolledBack()
            else ({ ids, store, settle, commit, rolledBack } = open())
          }
          pending = new Set()
          database.run('begin immediate')
        }
        database.run('rollback')
        rolledBack()
        const stored = database
          .query<{ n: number }, []>('select coalesce(sum(events), 0) as n from event_batches')
          .get()
        expect(stored?.n).toBe(committed.size)
      }),
      { numRuns: rounds(60) },
    )
  })

  test('and is free again once another process gives its event another id, whatever was read before', () => {
    const { database, open } = ledger()
    const { ids, store, commit } = open()
    database.run('begin immediate')
    store(1, 'before')
    commit()
    expect(ids.isTaken(1, 'before')).toBe(true)
    // As an erasure does with a row whose ids are in segments.
    const { facts } = encodeEvents([{ ...noEvent, kind: 'custom', name: 'x', id: 'after' }])
    database.query('update event_batches set facts = ?').run(Buffer.from(facts))
    ids.externalChange()
    expect(ids.isTaken(1, 'before')).toBe(false)
  })

  test('ids older than a moment are freed segment by segment, even if interrupted, and no others are', () => {
    const times = fc.array(
      fc.record({ steps: fc.nat(5), before: fc.nat(1_000), reopens: fc.boolean() }),
      {
        minLength: 5,
        maxLength: 40,
      },
    )
    fc.assert(
      fc.property(times, acts => {
        const { database, open } = ledger()
        let { ids, store, commit } = open()
        let stored = 0
        const storeMore = () => {
          database.run('begin immediate')
          for (const end = stored + 13; stored < end; stored++) {
            expect(store(1, `e${stored}`, stored)).toBe(true)
          }
          commit()
        }
        let forgotten = 0
        for (const { steps, before, reopens } of acts) {
          storeMore()
          forgotten = Math.max(forgotten, Math.min(before, stored))
          database.run('delete from event_batches where received_at + 13 < ?', [forgotten])
          const left = database.query<{ seq: number | null }, []>(
            'select min(seq) as seq from event_batches',
          )
          ids.deletedBefore(left.get()?.seq ?? 0)
          for (let i = 0; i < steps && ids.hasOlder(forgotten); i++) {
            database.run('begin immediate')
            ids.giveBackOlder(forgotten)
            commit()
          }
          if (reopens) ({ ids, store, commit } = open())
        }
        while (ids.hasOlder(forgotten)) {
          database.run('begin immediate')
          ids.giveBackOlder(forgotten)
          commit()
        }
        database.run('begin immediate')
        for (let i = forgotten; i < stored; i++) expect(store(1, `e${i}`, stored)).toBe(false)
        commit()
        const orphans = database
          .query(
            `select count(*) as n from event_id_chunks
            where place >> 24 not in (select id from event_id_segments)`,
          )
          .get()
        expect(orphans).toEqual({ n: 0 })
      }),
      { numRuns: rounds(20) },
    )
  })
})
