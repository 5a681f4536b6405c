import type { Database } from 'bun:sqlite'
import { RowIndex } from '../../../src/storage/sqlite/engine/hash-index/row-index.ts'
import type { Figure } from '../figures.ts'
import { cpuOf, figure, fill, put, Stage, type Store, scattered } from './stage.ts'

const [orgRow, flowRow] = [1, 1]

const keyOf = (n: number) => `r${scattered(n, 4)}${scattered(n, 5)}`
/** All runs have the same person, so that no other index is filled out of order. */
const person = 'u'

const insertRun = (database: Database) =>
  database.query(
    `insert into runs (id, org_id, flow_id, run_key, person, started_at, last_at, version, steps,
      own_started_at)
    values (?1, ${orgRow}, ${flowRow}, ?2, ?3, ?4, ?4, 1, '', ?4)`,
  )

/** Runs in the row index, by which each is looked up before it is stored. */
class IndexedRuns implements Store {
  readonly stage = new Stage()
  private readonly index = new RowIndex(this.stage.database)
  private readonly byRow
  readonly put

  constructor() {
    const { index } = this
    const { database } = this.stage
    this.byRow = database.query<{ run_key: string }, [number]>('select * from runs where id = ?')
    const insert = insertRun(database)
    const store = database.transaction((from: number, to: number) => {
      for (let n = from; n < to; n++) {
        const key = keyOf(n)
        if (this.has(key)) throw new Error(`run ${n} is stored`)
        insert.run(index.add(flowRow, key, n), key, person, n)
      }
      index.beforeCommit()
    })
    this.put = (from: number, to: number) => {
      store.immediate(from, to)
      index.commit()
    }
  }

  has(key: string): boolean {
    return this.index.find(flowRow, key, row => this.byRow.get(row)?.run_key === key) !== 0
  }

  [Symbol.dispose](): void {
    this.stage[Symbol.dispose]()
  }
}

/** The same with a unique index. */
class PlainRuns implements Store {
  readonly stage = new Stage('create unique index plain_runs on runs (flow_id, run_key)')
  private readonly byKey
  readonly put

  constructor() {
    const { database } = this.stage
    this.byKey = database.query<{ run_key: string }, [number, string]>(
      'select * from runs where flow_id = ? and run_key = ?',
    )
    const insert = insertRun(database)
    const store = database.transaction((from: number, to: number) => {
      for (let n = from; n < to; n++) {
        const key = keyOf(n)
        if (this.has(key)) throw new Error(`run ${n} is stored`)
        insert.run(null, key, person, n)
      }
    })
    this.put = (from: number, to: number) => store.immediate(from, to)
  }

  has(key: string): boolean {
    return this.byKey.get(flowRow, key) !== null
  }

  [Symbol.dispose](): void {
    this.stage[Symbol.dispose]()
  }
}

/** The cost of storing a run after a lookup by its key, and of finding one again. */
export function rows(stored: number, measured: number): Figure[] {
  const sides = [new IndexedRuns(), new PlainRuns()].map(store => {
    using _ = store
    const empty = put(store, 0, measured)
    fill(store, measured, stored)
    const bytes = store.stage.bytes() / stored
    const full = put(store, stored, stored + measured)
    const asked = Math.min(measured, 20_000)
    const found = cpuOf(() => {
      for (let i = 0; i < asked; i++) store.has(keyOf(Math.imul(i, 7_919) % stored))
    })
    return { empty, full, bytes, found: found / asked }
  })
  const [index, plain] = sides as [(typeof sides)[0], (typeof sides)[0]]
  const many = `${stored / 1e6} M stored`
  return [
    figure('a run by its key, none stored: CPU', 'µs', index.empty.cpu, plain.empty.cpu),
    figure(`a run by its key, ${many}: CPU`, 'µs', index.full.cpu, plain.full.cpu),
    figure('the same with syncs: time', 'µs', index.full.wall, plain.full.wall),
    figure('disk', 'B/run', index.bytes, plain.bytes),
    figure('a run found that is not in memory: CPU', 'µs', index.found, plain.found),
  ]
}
