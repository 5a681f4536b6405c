import { compact, emptyLog } from '../../src/storage/sqlite/database/compact.ts'
import { openForWriting } from '../../src/storage/sqlite/database/database.ts'
import { erase } from '../../src/storage/sqlite/erasure/erase.ts'
import { ErasureTable } from '../../src/storage/sqlite/erasure/erasure-table.ts'
import { beginErasure } from '../../src/storage/sqlite/erasure/erasures.ts'
import type { World } from './world.ts'

export { textsIn } from '../../scripts/support/stored.ts'

interface Whom {
  orgRef: number
  orgId: string
  person: string
}

/** Erases somebody as the command does, over a connection of its own, beside the running storage. */
export async function* erasing(world: World, of: Whom) {
  const own = openForWriting(world.dataDir)
  // Without syncs, because power cuts are not tested here.
  own.run('pragma synchronous = off')
  try {
    const row = beginErasure(own, world.dataDir, of, world.clock.now())
    await world.storage.projected()
    yield* erase(own, row)
    compact(own, world.dataDir)
    if (!emptyLog(own)) throw new Error('The log was not emptied')
    const table = new ErasureTable(own)
    table.finish(row, world.clock.now())
    return JSON.parse(table.get(row)!.receipt!) as Record<string, number>
  } finally {
    own.close()
  }
}

/** @param steps after how many steps it is killed, if it is */
export async function eraseBeside(world: World, of: Whom, steps = Number.POSITIVE_INFINITY) {
  const work = erasing(world, of)
  for (let taken = 0; taken < steps; taken++) {
    const { done, value } = await work.next()
    if (done) return value
  }
  await work.return(undefined as never)
  return null
}
