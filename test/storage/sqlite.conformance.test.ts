import { textsIn } from '../support/erasing.ts'
import { cure, poison } from '../support/ledger.ts'
import { lawWorld } from '../support/lives.ts'
import { conformance } from './conformance/conformance.ts'

conformance('SQLite', async () => {
  let world = lawWorld()
  return {
    clock: world.clock,
    get stores() {
      return world.stores
    },
    get management() {
      return world.management
    },
    settle: () => world.makeBlocks(),
    async retain(days) {
      world.storage.housekeeping.retentionDays = days
      await world.retainAll()
    },
    async refuse(text) {
      poison(world.database, text)
      return async () => cure(world.database)
    },
    traces: texts => textsIn(world.dataDir, texts),
    async reopen() {
      await world.stop()
      world = lawWorld(world)
    },
    close: () => world.close(),
  }
})
