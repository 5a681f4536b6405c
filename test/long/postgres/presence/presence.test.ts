import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, beforeEach, expect } from 'bun:test'
import fc from 'fast-check'
import { presenceMarks } from '../../../../src/core/organisation/presence.ts'
import { userHashVerdicts } from '../../../../src/core/organisation/verified-identity.ts'
import { Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import {
  PresenceTable,
  recordSnippetVersions,
} from '../../../../src/storage/postgres/presence/presence-table.ts'
import {
  deleteOldCounts,
  refuse,
  refuseAll,
} from '../../../../src/storage/postgres/presence/refusals.ts'
import { PresenceBoard } from '../../../../src/storage/shared/boards.ts'
import { IdentityBoard } from '../../../../src/storage/shared/identity-board.ts'
import { PresenceReader } from '../../../../src/storage/shared/presence-reader.ts'
import { limitReached, refusedOrigin } from '../../../../src/storage/shared/refusals.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const now = Date.UTC(2026, 10, 20, 9)
/** When it is read. Nobody is reported as seen later than that. */
const later = now + minute
const slots = 100

describe('presence in PostgreSQL', () => {
  let server: PostgresServer
  let postgres: Postgres
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  beforeEach(async () => {
    await postgres?.close()
    postgres = Postgres.open(await server.newDatabase(), { most: 8 })
  })
  afterAll(async () => {
    await postgres?.close(true)
    await server?.close()
  })

  /** The part of a node that records and reports presence. */
  class Node {
    readonly board = new PresenceBoard(PresenceBoard.memory(slots))
    readonly identity = new IdentityBoard(IdentityBoard.memory(slots))
    readonly reader = new PresenceReader(postgres, this.board)
    readonly table: PresenceTable

    constructor(over: Pick<Postgres, 'begin'> = postgres) {
      this.table = new PresenceTable(over, this.board, this.identity)
    }
  }

  const read = (orgRow: number, at = later) => new Node().reader.presence(orgRow, at)

  test('marks of all nodes give the first and last time, whichever node writes last', async () => {
    const [one, other] = [new Node(), new Node()]
    one.board.mark(1, 'heartbeat', now + 5 * second)
    other.board.mark(1, 'heartbeat', now)
    other.board.mark(1, 'heartbeat', now + 3 * second)
    // A node reports at once what it has seen itself.
    const seen = { firstAt: now + 5 * second, lastAt: now + 5 * second }
    expect((await one.reader.presence(1, later)).seen.heartbeat).toEqual(seen)
    await one.table.write(now)
    await other.table.write(now)
    const marks = { firstAt: now, lastAt: now + 5 * second }
    for (const node of [one, other, new Node()]) {
      expect((await node.reader.presence(1, later)).seen.heartbeat).toEqual(marks)
    }
    expect((await read(1)).seen.key_used).toBeNull()
    expect((await read(2)).seen.heartbeat).toBeNull()
  })

  test('a mark is written once, until a newer one is made', async () => {
    const node = new Node()
    const written = async () => {
      const rows = await postgres.all<{ xmin: string }>('select xmin::text from presence')
      return rows[0]?.xmin
    }
    node.board.mark(1, 'heartbeat', now)
    await node.table.write(now)
    const first = await written()
    node.board.mark(2, 'heartbeat', now + second)
    await node.table.write(now)
    expect(await written()).toBe(first)
    node.board.mark(1, 'heartbeat', now + second)
    await node.table.write(now)
    expect(await written()).not.toBe(first)
  })

  test('many nodes write about the same organisations at once, and wait for each other in one order', async () => {
    const nodes = Array.from({ length: 6 }, () => new Node())
    for (let round = 1; round <= 10; round++) {
      for (const [i, { board, identity, table }] of nodes.entries()) {
        for (let orgRow = 1; orgRow < slots; orgRow++) {
          const row = i % 2 === 0 ? orgRow : slots - orgRow
          board.mark(row, 'key_used', now + round * second)
          identity.add(row, { valid: 1 })
          table.addSkew(row, round)
        }
      }
      const versions = new Map(
        Array.from({ length: slots - 1 }, (_, i) => [slots - 1 - i, `1.${round}`]),
      )
      await Promise.all([
        ...nodes.map(({ table }) => table.write(now)),
        recordSnippetVersions(postgres, versions),
      ])
    }
    for (const orgRow of [1, 50, slots - 1]) {
      const { seen, skews, snippetVersion, userHashes } = await read(orgRow)
      expect(seen.key_used).toEqual({ firstAt: now + second, lastAt: now + 10 * second })
      expect(skews.toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 60 }, (_, i) => Math.floor(i / 6) + 1),
      )
      expect([snippetVersion, userHashes.valid]).toEqual(['1.10', 60])
    }
  })

  test('the newest 101 clock skews are kept', async () => {
    const node = new Node()
    for (let i = 0; i < 90; i++) node.table.addSkew(1, i)
    await node.table.write(now)
    for (let i = 90; i < 110; i++) node.table.addSkew(1, i)
    await node.table.write(now)
    expect((await read(1)).skews).toEqual(Array.from({ length: 101 }, (_, i) => i + 9))
    const other = new Node()
    for (let i = 0; i < 300; i++) other.table.addSkew(2, i)
    await other.table.write(now)
    expect((await read(2)).skews).toEqual(Array.from({ length: 101 }, (_, i) => i + 199))
  })

  test('the latest version of the snippet is reported, and overwrites nothing else', async () => {
    const node = new Node()
    node.board.mark(1, 'heartbeat', now)
    node.table.addSkew(1, 7)
    for (const version of ['1.0.0', '1.1.0'])
      await recordSnippetVersions(postgres, new Map([[1, version]]))
    await node.table.write(now)
    expect(await read(1)).toMatchObject({ snippetVersion: '1.1.0', skews: [7] })
  })

  test('what could not be written is written later, and nothing is counted twice or lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('well', 'refused', 'answer lost'), { minLength: 1 }),
        async faults => {
          await postgres.script('truncate presence, identity_counts')
          let fault = 'well'
          const node = new Node({
            async begin(work) {
              if (fault === 'refused') throw new Error('refused')
              const result = await postgres.begin(work)
              if (fault === 'answer lost') throw new Error('the answer is lost')
              return result
            },
          })
          const skews: number[] = []
          for (const [i, next] of faults.entries()) {
            fault = next
            node.board.mark(1, 'heartbeat', now + i * second)
            node.identity.add(1, { valid: 1, missing: 2 })
            node.table.addSkew(1, i)
            skews.push(i)
            const writes = [node.table.write(now), node.table.write(now)]
            const outcomes = await Promise.allSettled(writes)
            const expected = next === 'well' ? 'fulfilled' : 'rejected'
            expect(outcomes[0]!.status).toBe(expected)
          }
          fault = 'well'
          await node.table.write(now)
          const { seen, userHashes, ...rest } = await read(1)
          expect(rest.skews).toEqual(skews)
          expect(userHashes).toMatchObject({ valid: faults.length, missing: 2 * faults.length })
          expect(seen.heartbeat).toEqual({
            firstAt: now,
            lastAt: now + (faults.length - 1) * second,
          })
        },
      ),
      { numRuns: 12 },
    )
  })

  test('a minute in which a limit was reached counts once, whichever nodes report it', async () => {
    const limit = { [limitReached('events')]: 1 }
    for (const at of [now, now + 59 * second, now + minute, now + 2 * minute]) {
      await refuse(postgres, 1, at, limit)
      await refuse(postgres, 1, at, { invalid: 1, [refusedOrigin]: 2 })
    }
    await refuseAll(postgres, [
      { orgRow: 1, at: now + hour, counts: limit },
      { orgRow: 1, at: now + hour + second, counts: { ...limit, invalid: 3 } },
      { orgRow: 1, at: now + hour + minute, counts: { ...limit, invalid: undefined } },
      { orgRow: 2, at: now, counts: { erased: 5 } },
    ])
    await refuseAll(postgres, [])
    expect(await read(1)).toMatchObject({
      ...{ limitedMinutes: { events: 5 }, refusedOrigins: 8, rejections: { invalid: 7 } },
      erased: 0,
    })
    expect((await read(2)).erased).toBe(5)
  })

  test('everything is reported as SQLite reports it', async () => {
    const sqlite = new Database(':memory:', { strict: true })
    migrate(sqlite, now)
    const here = new Node().reader
    const there = new PresenceReader(sqlite, new Node().board)
    const codes = ['invalid', 'too_old', refusedOrigin, 'erased', limitReached('flows')]
    const counted = <Word extends string>(words: readonly Word[]) =>
      fc.uniqueArray(
        fc.record({
          org_id: fc.integer({ min: 1, max: 2 }),
          hour: fc.nat({ max: 24 * 35 }).map(hours => now / hour - hours),
          word: fc.constantFrom(...words),
          count: fc.integer({ min: 1, max: 2 ** 40 }),
        }),
        { size: 'max', maxLength: 60, selector: ({ count, ...key }) => JSON.stringify(key) },
      )
    const marks = fc.record(
      Object.fromEntries(
        presenceMarks.flatMap(mark => [
          [`${mark}_first`, fc.option(fc.nat())],
          [`${mark}_last`, fc.option(fc.nat())],
        ]),
      ),
    )
    await fc.assert(
      fc.asyncProperty(
        counted(codes),
        counted(userHashVerdicts),
        marks,
        async (refusals, verdicts, seen) => {
          const tables = [
            ['refusals', refusals.map(({ word, ...row }) => ({ ...row, code: word }))],
            ['identity_counts', verdicts.map(({ word, ...row }) => ({ ...row, verdict: word }))],
            ['presence', [{ org_id: 1, ...seen, snippet_version: 'v', skews: '[1,-2]' }]],
          ] as const
          for (const [table, rows] of tables) {
            sqlite.run(`delete from ${table}`)
            await postgres.run(`delete from ${table}`)
            const names = Object.keys(rows[0] ?? {})
            if (names.length === 0) continue
            const insert = `insert into ${table} (${names.join(', ')})`
            await postgres.run(
              `${insert} select ${names.join(', ')}
              from json_populate_recordset(null::${table}, $1::text::json)`,
              JSON.stringify(rows),
            )
            const one = sqlite.query(`${insert} values (${names.map(() => '?').join(', ')})`)
            for (const row of rows) one.run(...(Object.values(row) as number[]))
          }
          const alike = async () => {
            for (const orgRow of [1, 2, 3]) {
              expect(await here.presence(orgRow, now)).toEqual(await there.presence(orgRow, now))
              expect(await here.countedSince(orgRow, now)).toEqual(
                await there.countedSince(orgRow, now),
              )
              expect(await here.identityHours(orgRow, now)).toEqual(
                await there.identityHours(orgRow, now),
              )
            }
          }
          await alike()
          // Counts that are too old are no longer reported, so deleting them changes nothing.
          await deleteOldCounts(postgres, [1, 2], now)
          await alike()
          const hours = await postgres.all<{ hour: number }>(
            'select hour from refusals union all select hour from identity_counts',
          )
          for (const kept of hours) expect(kept.hour).toBeGreaterThanOrEqual(now / hour - 24 * 30)
        },
      ),
      { numRuns: 25 },
    )
    sqlite.close()
  })
})
