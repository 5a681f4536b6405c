import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  CompletionReader,
  CompletionTable,
  indexedCompletions,
} from '../../src/storage/checklists/completion-table.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { firstFreeRow, noteReplacedRows, RowIndex } from '../../src/storage/hash-index/row-index.ts'
import { indexedRuns } from '../../src/storage/runs/run-table.ts'

/** Small enough that a few hundred rows make segments, and segments of segments of segments. */
const policy = { entriesPerSegment: 8, segmentBits: 1, entriesPerMergeStep: 4 }

function emptyDatabase(): Database {
  const database = new Database(':memory:', { strict: true })
  migrate(database, 0)
  return database
}

interface Row {
  flow: number
  key: string
  person: string
}

type Action =
  | { type: 'add'; flow: number; key: number; person: number }
  | { type: 'delete' | 'write anew' | 'replace elsewhere'; nth: number }
  | { type: 'commit' | 'roll back' | 'crash' | 'savepoint' | 'stop' }

const nth = fc.nat(1_000)

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({
      type: fc.constant('add' as const),
      flow: fc.integer({ min: 1, max: 2 }),
      key: fc.nat(400),
      // Few people, so that some have very many rows.
      person: fc.nat(6),
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

test('rows are found by key and by person, whatever is stored, taken back, replaced or reopened between', () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 200, maxLength: 1_200 }), actions => {
      const database = emptyDatabase()
      const insert = database.query(
        `insert into runs (id, org_id, flow_id, run_key, person, started_at, last_at, version, steps)
        values (?, 1, ?, ?, ?, 0, 0, 1, '')`,
      )
      const remove = database.query('delete from runs where id = ?')
      const open = () => new RowIndex(database, indexedRuns, policy)
      let index = open()
      let stored = new Map<number, Row>()
      let committed = new Map(stored)
      const add = (row: Row) => {
        const id = index.add(row.flow, [row.key, row.person], 0)
        expect(stored.has(id)).toBe(false)
        insert.run(id, row.flow, row.key, row.person)
        return id
      }
      const expectFound = ({ flow, key, person }: Row) => {
        for (const [column, text, name] of [
          [0, key, 'key'],
          [1, person, 'person'],
        ] as const) {
          const found = [...index.all(column, flow, text)].filter(id => {
            const row = stored.get(id)
            return row?.flow === flow && row[name] === text
          })
          const right = [...stored].filter(([, row]) => row.flow === flow && row[name] === text)
          expect(found.sort()).toEqual(right.map(([id]) => id).sort())
        }
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
          const row = { flow: step.flow, key: `k${step.key}`, person: `u${step.person}` }
          stored.set(add(row), row)
          expectFound(row)
        } else if (step.type === 'savepoint') {
          const mark = index.savepoint()
          database.run('savepoint one')
          const row = { flow: 1, key: 'poison', person: 'u1' }
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
            // As a rebuild does it in another process, between two of our transactions.
            commit()
            database.run('begin immediate')
            remove.run(id)
            const free = firstFreeRow(database, 'runs')
            insert.run(free, row.flow, row.key, row.person)
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
              const moved = { ...row, person: 'u0' }
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
    { numRuns: 40 },
  )
}, 60_000)

test('a table that an older Cairn filled is indexed at the first start, at once and for good', () => {
  const database = emptyDatabase()
  const rows = 8 * 8 * 8 * 3 + 5
  const insert = database.query(
    'insert into completions (org_id, flow_id, person, reported_at) values (1, 1, ?, ?)',
  )
  for (let i = 0; i < rows; i++) insert.run(`u${i}`, i)
  for (let start = 0; start < 2; start++) {
    const index = new RowIndex(database, indexedCompletions, policy)
    const people = Array.from({ length: rows }, (_, i) => [...index.all(0, 1, `u${i}`)])
    expect(people.every((found, i) => found.includes(i + 1))).toBe(true)
  }
  const sealed = database
    .query("select value from server_state where name = 'completions_sealed'")
    .get()
  expect(sealed).toEqual({ value: rows })
})

test('readers see each person’s earliest completion, sealed or not, and nobody else’s', () => {
  const reports = fc.array(
    fc.record({
      org: fc.integer({ min: 1, max: 2 }),
      person: fc.integer({ min: 0, max: 150 }).map(n => `u${n}`),
      at: fc.nat(1_000),
      endsCommit: fc.boolean(),
    }),
    { minLength: 50, maxLength: 800 },
  )
  fc.assert(
    fc.property(reports, all => {
      const database = emptyDatabase()
      const index = new RowIndex(database, indexedCompletions, policy)
      const table = new CompletionTable(database, index)
      const reader = new CompletionReader(database)
      const earliest = new Map<string, number>()
      const flowOf = (org: number) => org * 10
      const commit = () => {
        index.beforeCommit()
        database.run('commit')
        index.commit()
      }
      database.run('begin immediate')
      for (const { org, person, at, endsCommit } of all) {
        table.add(org, flowOf(org), person, at)
        const key = `${org} ${person}`
        earliest.set(key, Math.min(earliest.get(key) ?? at, at))
        expect(table.firstAt(org, flowOf(org), person)).toBe(earliest.get(key)!)
        if (!endsCommit) continue
        commit()
        expect(reader.firstAt(org, flowOf(org), person)).toBe(earliest.get(key)!)
        database.run('begin immediate')
      }
      commit()
      for (const org of [1, 2]) {
        for (let n = 0; n <= 150; n++) {
          const expected = earliest.get(`${org} u${n}`) ?? null
          expect(reader.firstAt(org, flowOf(org), `u${n}`)).toBe(expected)
          expect(reader.firstAt(3 - org, flowOf(org), `u${n}`)).toBeNull()
        }
      }
      const { n } = database
        .query<{ n: number }, []>('select count(*) as n from completions')
        .get()!
      expect(n).toBe(earliest.size)
    }),
    { numRuns: 40 },
  )
})
