import { afterAll, beforeAll, beforeEach, expect } from 'bun:test'
import fc from 'fast-check'
import { Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import {
  PresenceTable,
  recordSnippetVersions,
} from '../../../../src/storage/postgres/presence/presence-table.ts'
import { PresenceBoard } from '../../../../src/storage/shared/boards.ts'
import { IdentityBoard } from '../../../../src/storage/shared/identity-board.ts'
import { PresenceReader } from '../../../../src/storage/shared/presence-reader.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

const [second, minute] = [1_000, 60_000]
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
})
