import { afterAll, beforeAll, expect, test } from 'bun:test'
import { defaultLimits } from '../../src/core/organisation/limits.ts'
import {
  apiOf,
  asForUsers,
  eventsHead,
  rawConnection,
  type Server,
  withTour,
} from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

const place = new CommandLine()
let server: Server
let snippetKey: string

beforeAll(async () => {
  ;({ snippetKey } = await withTour(place))
  server = await place.serve([], asForUsers)
})
afterAll(() => place.close())

test('a body with a length of 200 MiB is rejected with 413 before it is sent', async () => {
  const connection = await rawConnection(server)
  connection.write(`${eventsHead(snippetKey)}Content-Length: 209715200\r\n\r\n${'x'.repeat(1_000)}`)
  await server.until(() => connection.isClosed || connection.received.includes('\r\n\r\n'))
  connection.end()
  expect(connection.received).toStartWith('HTTP/1.1 413')
  expect(connection.received).toContain('"code":"payload_too_large"')
})

test('eight clients at once: exactly the rest of the limit is admitted', async () => {
  const limit = defaultLimits.events
  const send = apiOf(server, snippetKey)
  const client = async () => {
    let admitted = 0
    for (let i = 0; i < limit / 8 + 5; i++) {
      if ((await send('POST', '/events', {})).status !== 429) admitted++
    }
    return admitted
  }
  const admitted = await Promise.all(Array.from({ length: 8 }, client))
  expect(admitted.reduce((sum, count) => sum + count)).toBe(limit - 1)
})
