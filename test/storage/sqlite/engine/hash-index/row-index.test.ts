import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { migrate } from '../../../../../src/storage/sqlite/database/migrate.ts'
import {
  firstFreeRow,
  noteReplacedRows,
  RowIndex,
} from '../../../../../src/storage/sqlite/engine/hash-index/row-index.ts'
import { rounds } from '../../../../support/rounds.ts'

/** Small enough that a few hundred rows make segments, which are merged and merged again. */
const policy = { entriesPerSegment: 8, segmentBits: 1, entriesPerMergeStep: 4 }

function emptyDatabase(): Database {
  const database = new Database(':memory:', { strict: true })
  migrate(database)
  return database
}

/** Every row that a key may lead to. */
function rowsOf(index: RowIndex, flow: number, key: string): number[] {
  const rows = new Set<number>()
  index.find(flow, key, row => {
    rows.add(row)
    return false
  })
  return [...rows]
}

interface Row {
  flow: number
  key: string
}

type Action =
  | { type: 'add'; flow: number; key: number }
  | { type: 'delete' | 'write anew' | 'replace elsewhere'; nth: number }
  | { type: 'commit' | 'roll back' | 'crash' | 'savepoint' | 'stop' }

const nth = fc.nat(1_000)

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({
      type: fc.constant('add' as const),
      flow: fc.integer({ min: 1, max: 2 }),
      // A few keys come again and again, so that some have very many rows.
      key: fc.oneof(fc.nat(400), fc.nat(6)),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom('delete' as const, 'write anew' as const, 'replace elsewhere' as const),
      nth,
    }),
  },
  { weight: 8, arbitrary: fc.constant({ type: 'commit' as const }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { type: 'roll back' as const },
      { type: 'crash' as const },
      { type: 'savepoint' as const },
      { type: 'stop' as const },
    ),
  },
)

test('rows are found by their keys, whatever is stored, taken back, replaced or reopened in between', () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 200, maxLength: 1_200 }), actions => {
      const database = emptyDatabase()
      const insert = database.query(
        `insert into runs (id, org_id, flow_id, run_key, person, started_at, last_at, version, steps)
        values (?, 1, ?, ?, 'u', 0, 0, 1, '')`,
      )
      const remove = database.query('delete from runs where id = ?')
      const open = () => new RowIndex(database, policy)
      let index = open()
      let stored = new Map<number, Row>()
      let committed = new Map(stored)
      const add = (row: Row) => {
        const id = index.add(row.flow, row.key, 0)
        expect(stored.has(id)).toBe(false)
        insert.run(id, row.flow, row.key)
        return id
      }
      const expectFound = ({ flow, key }: Row) => {
        const isIt = (row: Row | undefined) => row?.flow === flow && row.key === key
        const found = rowsOf(index, flow, key).filter(id => isIt(stored.get(id)))
        const right = [...stored].filter(([, row]) => isIt(row)).map(([id]) => id)
        expect(found.sort()).toEqual(right.sort())
      }
      const begin = () => {
        database.run('begin immediate')
        index.externalChange()
      }
      const commit = () => {
        index.beforeCommit()
        database.run('commit')
        index.commit()
        committed = new Map(stored)
      }
      begin()
      for (const step of actions) {
        const nthRow = 'nth' in step ? [...stored][step.nth % Math.max(1, stored.size)] : undefined
        if (step.type === 'add') {
          const row = { flow: step.flow, key: `k${step.key}` }
          stored.set(add(row), row)
          expectFound(row)
        } else if (step.type === 'savepoint') {
          const mark = index.savepoint()
          database.run('savepoint one')
          const row = { flow: 1, key: 'poison' }
          add(row)
          index.rollbackTo(mark)
          database.run('rollback to one')
          database.run('release one')
          expectFound(row)
        } else if (step.type === 'commit') {
          commit()
          begin()
        } else if (step.type === 'stop') {
          index.sealIfWorth()
          commit()
          index = open()
          begin()
        } else if (step.type === 'roll back' || step.type === 'crash') {
          database.run('rollback')
          if (step.type === 'crash') index = open()
          else index.rollback()
          stored = new Map(committed)
          begin()
        } else if (nthRow) {
          const [id, row] = nthRow
          if (step.type === 'replace elsewhere') {
            // As a rebuild in another process does, between two transactions of this one.
            commit()
            database.run('begin immediate')
            remove.run(id)
            const free = firstFreeRow(database)
            insert.run(free, row.flow, row.key)
            noteReplacedRows(database)
            database.run('commit')
            stored.delete(id)
            stored.set(free, row)
            committed = new Map(stored)
            begin()
          } else {
            remove.run(id)
            stored.delete(id)
            if (step.type === 'write anew') {
              const moved = { ...row, key: 'k0' }
              stored.set(add(moved), moved)
            }
          }
          expectFound(row)
        }
      }
      commit()
      index = open()
      for (const row of stored.values()) expectFound(row)
    }),
    { numRuns: rounds(40) },
  )
}, 300_000)
