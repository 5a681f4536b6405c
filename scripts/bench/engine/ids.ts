import { EventIds } from '../../../src/storage/sqlite/engine/event-codec/event-batches.ts'
import type { Figure } from '../figures.ts'
import { figure, fill, put, Stage, type Store, scattered } from './stage.ts'

const orgRow = 1
const batch = 50

type IdOf = (n: number) => string

/** As a browser makes them: 48 bits of time first. */
const ordered: IdOf = n => {
  const time = (1_790_000_000_000 + (n >> 3)).toString(16).padStart(12, '0')
  const bits = scattered(n, 1)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${bits.slice(0, 3)}-8${bits.slice(3, 6)}-${bits.slice(4)}`
}

/** As many back ends make them. */
const random: IdOf = n => {
  const [a, b] = [scattered(n, 2), scattered(n, 3)]
  return `${a.slice(0, 8)}-${a.slice(8, 12)}-4${a.slice(13)}-8${b.slice(1, 4)}-${b.slice(4)}`
}

/** The id set: only hashes, because the ids themselves are in the ledger. */
class IdSet implements Store {
  readonly stage = new Stage()
  readonly put

  constructor(idOf: IdOf) {
    const ids = new EventIds(this.stage.database)
    const store = this.stage.database.transaction((from: number, to: number) => {
      for (let at = from; at < to; at += batch) {
        const seq = ids.openBatch(orgRow)
        for (let n = at; n < Math.min(to, at + batch); n++) {
          if (!ids.take(seq, idOf(n), n)) throw new Error(`the id of ${n} is taken`)
        }
      }
      ids.closeBatches()
      ids.beforeCommit()
    })
    this.put = (from: number, to: number) => {
      store.immediate(from, to)
      ids.commit()
    }
  }

  [Symbol.dispose](): void {
    this.stage[Symbol.dispose]()
  }
}

class PlainIds implements Store {
  readonly stage = new Stage(
    'create table ids (org_id integer, id text, primary key (org_id, id)) strict, without rowid',
  )
  readonly put

  constructor(idOf: IdOf) {
    const { database } = this.stage
    const insert = database.query('insert or ignore into ids values (?, ?)')
    const store = database.transaction((from: number, to: number) => {
      for (let n = from; n < to; n++) {
        if (insert.run(orgRow, idOf(n)).changes === 0) throw new Error(`the id of ${n} is taken`)
      }
    })
    this.put = (from: number, to: number) => store.immediate(from, to)
  }

  [Symbol.dispose](): void {
    this.stage[Symbol.dispose]()
  }
}

/** The cost of telling a new id from a stored one. */
export function ids(stored: number, measured: number): Figure[] {
  const figures: Figure[] = []
  for (const [name, idOf] of Object.entries({ ordered, random })) {
    const sides = [new IdSet(idOf), new PlainIds(idOf)].map(store => {
      using _ = store
      const empty = put(store, 0, measured)
      fill(store, measured, stored)
      const bytes = store.stage.bytes() / stored
      const full = put(store, stored, stored + measured)
      return { empty, full, bytes }
    })
    const [set, plain] = sides as [(typeof sides)[0], (typeof sides)[0]]
    const many = `${(stored / 1e6).toLocaleString('en-US')} M stored`
    figures.push(
      figure(`${name} ids, none stored: CPU`, 'µs', set.empty.cpu, plain.empty.cpu),
      figure(`${name} ids, ${many}: CPU`, 'µs', set.full.cpu, plain.full.cpu),
      figure('the same with syncs: time', 'µs', set.full.wall, plain.full.wall),
      figure('disk', 'B/id', set.bytes, plain.bytes),
    )
  }
  return figures
}
