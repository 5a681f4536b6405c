import { Database } from 'bun:sqlite'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiOf, Workplace } from '../../test/support/binary.ts'
import { firstRelease } from '../../test/support/first-release.ts'
import { storedEvents } from '../../test/support/ledger.ts'
import type { Operation, Underway } from './operation.ts'

/** So many that bringing them up to date takes a good part of a start. */
const eventsStored = 20_000

const snippetKey = 'k'.repeat(32)

/** A server's first start on what the first release has left, with a copy of it for each time. */
export class Migration implements Operation {
  readonly what = 'a migration from the first release'
  private readonly folder = mkdtempSync(join(tmpdir(), 'cairn-first-release-'))
  private readonly file = join(this.folder, 'cairn.db')
  private place = new Workplace()

  constructor() {
    using database = new Database(this.file, { create: true, strict: true })
    firstRelease(database)
    database.run(
      `insert into organisations (id, public_id, slug, name, created_at)
      values (1, 'org_old', 'old', 'Old', 1)`,
    )
    database.run('insert into snippet_keys (key, org_id, created_at) values (?, 1, 1)', [
      snippetKey,
    ])
    const now = Date.now()
    const insert = database.query(
      `insert into events (org_id, id, kind, user_id, name, occurred_at, received_at)
      values (1, ?, 9, 'ann', 'x', ?, ?)`,
    )
    database.transaction(() => {
      for (let i = 0; i < eventsStored; i++) insert.run(`event-${i}`, now, now + (i >> 5))
    })()
  }

  async begin(): Promise<Underway> {
    await this.place.close()
    this.place = new Workplace()
    mkdirSync(join(this.place.folder, 'cairn-data'))
    copyFileSync(this.file, join(this.place.folder, 'cairn-data', 'cairn.db'))
    const { child, ready } = await this.place.start()
    return { child, done: ready }
  }

  async faultOf(): Promise<string | null> {
    const server = await this.place.serve()
    const file = join(this.place.folder, 'cairn-data', 'cairn.db')
    using database = new Database(file, { readonly: true })
    const [verdict] = database.query<[string], []>('pragma integrity_check').values()
    if (verdict?.[0] !== 'ok') return `integrity_check: ${verdict?.[0]}`
    const ids = storedEvents(database).map(({ id }) => id)
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
