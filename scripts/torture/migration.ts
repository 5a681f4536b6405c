import { Database } from 'bun:sqlite'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiOf, Workplace } from '../support/binary.ts'
import { writeOlder } from '../support/older-schema.ts'
import { damageIn, storedEvents } from '../support/stored.ts'
import type { Operation, Underway } from './operation.ts'

/** So many that migrating them takes a good part of a start. */
const eventsStored = 20_000

/** An organisation in addition to those that the release has left. */
const orgRow = 1_000
const snippetKey = 'k'.repeat(32)

/** A server's first start on what the first release has left. Each time it gets a fresh copy. */
export class Migration implements Operation {
  readonly what = 'a migration from the first release'
  private readonly folder = mkdtempSync(join(tmpdir(), 'cairn-first-release-'))
  private readonly data = join(this.folder, 'cairn-data')
  private place = new Workplace()

  constructor() {
    writeOlder(this.data, 1)
    using database = new Database(join(this.data, 'cairn.db'), { strict: true })
    database.run(
      `insert into organisations (id, public_id, slug, name, created_at)
      values (${orgRow}, 'org_old', 'old', 'Old', 1)`,
    )
    database.run(
      `insert into snippet_keys (key, org_id, created_at) values ('${snippetKey}', ${orgRow}, 1)`,
    )
    const now = Date.now()
    const insert = database.query(
      `insert into events (org_id, id, kind, user_id, name, occurred_at, received_at)
      values (${orgRow}, ?, 9, 'ann', 'x', ?, ?)`,
    )
    database.transaction(() => {
      for (let i = 0; i < eventsStored; i++) insert.run(`event-${i}`, now, now + (i >> 5))
    })()
  }

  async begin(): Promise<Underway> {
    await this.place.close()
    this.place = new Workplace()
    cpSync(this.data, this.place.dataDir, { recursive: true })
    const { child, ready } = await this.place.start()
    return { child, done: ready }
  }

  async faultOf(): Promise<string | null> {
    const server = await this.place.serve()
    using database = this.place.reading()
    const damage = damageIn(database)
    if (damage !== null) return `integrity_check: ${damage}`
    const ids = storedEvents(database, orgRow).map(({ id }) => id)
    if (ids.length !== eventsStored) return `${ids.length} of ${eventsStored} events`
    if (!ids.every((id, i) => id === `event-${i}`)) return 'the events have another order'
    const known = { id: 'event-7', kind: 'custom', name: 'x', userId: 'ann' }
    const response = await apiOf(server, snippetKey)('POST', '/events', { events: [known] })
    const { duplicates } = (await response.json()) as { duplicates: number }
    await server.end('SIGKILL')
    return duplicates === 1 ? null : 'an event of the first release is not known again'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.place.close()
    rmSync(this.folder, { recursive: true })
  }
}
