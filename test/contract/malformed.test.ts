import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Server, Workplace, withUnlimitedTour } from '../support/binary.ts'
import { overSocket } from '../support/raw-socket.ts'
import { fill } from './names.ts'
import { recordsOf, spansIn, tablesIn } from './tables.ts'

/** Sends every row of malformed.md to the compiled binary. */

const place = new Workplace()
let server: Server
let names: ReadonlyMap<string, string>
beforeAll(async () => {
  const { snippetKey } = await withUnlimitedTour(place)
  server = await place.serve()
  const event = JSON.stringify({ events: [{ kind: 'custom', name: 'hostile', userId: 'hostile' }] })
  const length = event.length
  names = new Map(
    Object.entries({ key: snippetKey, event, length: `${length}`, size: length.toString(16) }),
  )
})
afterAll(() => place.close())

const headers = (name: string) => {
  const [, count] = /^(\d+) headers$/.exec(name) ?? []
  return count && Array.from({ length: Number(count) }, (_, i) => `X-${i}: hostile`).join('\r\n')
}

/** What a code span stands for. */
const textOf = (span: string) =>
  fill(JSON.parse(`"${span.replaceAll('"', '\\"')}"`), names, headers)

interface Row {
  name: string
  /** The exact bytes of the request. `names` has to be set before. */
  bytes(): string
  status: string
}

function rowsOf(table: ReturnType<typeof tablesIn>[number]): Row[] {
  return recordsOf(table).map(cell => {
    const common = spansIn(table.everyRow)
    // The request line comes first, wherever the row has it.
    const lines = [...common, ...spansIn(cell('lines'))].toSorted(
      (a, b) => Number(b.endsWith(' HTTP/1.1')) - Number(a.endsWith(' HTTP/1.1')),
    )
    const bytes = () =>
      table.columns.includes('bytes')
        ? spansIn(cell('bytes')).map(textOf).join('')
        : `${lines.map(line => `${textOf(line)}\r\n`).join('')}\r\n${spansIn(cell('body')).map(textOf).join('')}`
    const name = ['bytes', 'lines', 'body'].map(cell).filter(Boolean).join(' ').slice(0, 120)
    return { name, bytes, status: cell('status') }
  })
}

const tables = tablesIn(readFileSync(join(import.meta.dir, 'malformed.md'), 'utf8'))

for (const [section, ofSection] of Map.groupBy(tables, ({ section }) => section)) {
  describe(section, () => {
    const rows = ofSection.flatMap(rowsOf).map(row => [row.name, row.status, row] as const)
    test.each(rows)('%s → %s', async (_, status, { bytes }) => {
      const { port } = new URL(server.url)
      const { text } = await overSocket(Number(port), Buffer.from(bytes(), 'latin1'))
      const final = text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')
      if (section === 'Odd, and allowed') expect(final).toStartWith(`HTTP/1.1 ${status} `)
      else if (status === 'closed') expect(final).toBe('')
      else
        expect(final).toMatch(
          new RegExp(`^HTTP/1.1 ${status} [\\w ]+\r\nConnection: close\r\n\r\n$`),
        )
    })
  })
}

test('the log contains nothing that was sent, and no warning or error', async () => {
  expect(await server.end()).toBe(0)
  expect(server.stdout).not.toContain('hostile')
  expect(server.stdout).not.toMatch(/"level":"(warn|error|fatal)"/)
})
