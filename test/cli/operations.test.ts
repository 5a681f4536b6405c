import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { databaseFile, openForWriting } from '../../src/storage/sqlite/database/database.ts'
import { apiOf, type Server, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { cure, poison } from '../support/ledger.ts'
import { prepared } from '../support/prepared.ts'

const day = 86_400_000

const withData = prepared(withTour)

let place: CommandLine
let data: string
let organisation: Awaited<ReturnType<typeof withTour>>

beforeEach(async () => {
  place = new CommandLine()
  data = join(place.folder, 'cairn-data')
  organisation = await withData(place)
}, 300_000)
afterEach(() => place.close())

const custom = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  kind: 'custom',
  name: 'did_something',
  userId: 'u',
  ...more,
})

async function send(server: Server, ...events: Record<string, unknown>[]) {
  const response = await apiOf(server, organisation.snippetKey)('POST', '/events', { events })
  return (await response.json()) as { accepted: number; results: { code?: string }[] }
}

/** Works on the database as another process would. */
function withDatabase<T>(work: (database: Database) => T): T {
  const database = openForWriting(data)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

const eventsIn = () =>
  withDatabase(database =>
    Number(database.query('select coalesce(sum(events), 0) from event_batches').values()[0]?.[0]),
  )

describe('retentionDays', () => {
  test('takes effect at once beside a running server: older events are rejected, stored ones deleted, and compact is rejected', async () => {
    const server = await place.serve()
    const occurredAt = Date.now() - 10 * day
    expect(await send(server, custom('a', { occurredAt }))).toMatchObject({ accepted: 1 })
    withDatabase(database => database.run(`update event_batches set received_at = ${occurredAt}`))
    await send(server, custom('b'))
    expect(eventsIn()).toBe(2)
    await place.run(['org', 'set', 'retentionDays', '9'])
    const { results } = await send(server, custom('c', { occurredAt }))
    expect(results).toMatchObject([{ code: 'too_old' }])
    await until(eventsIn, count => count === 1)
    const compacted = await place.run(['compact'])
    expect(compacted.status).toBe(1)
    expect(compacted.stderr).toContain('only while no server is running: stop it')
    const metrics = await (await fetch(`${server.managementUrl}/metrics`)).text()
    expect(metrics).toContain('\ncairn_retention_deleted_events_total 1\n')
    expect(metrics).toMatch(/\ncairn_oldest_event_timestamp_seconds 1\d{9}/)
  }, 300_000)
})

describe('dead-letters', () => {
  const addDeadLetters = async (server: Server, ...ids: string[]) => {
    withDatabase(database => poison(database, 'bad'))
    await send(server, custom('good'), ...ids.map(id => custom(id)))
    withDatabase(database => cure(database))
  }
  interface Listed {
    id: number
    eventId: string
  }

  test('beside a running server are listed, retried with their verdicts, and dropped', async () => {
    const server = await place.serve()
    expect((await place.run(['dead-letters', 'list'])).stdout).toBe('No dead letters.\n')
    await addDeadLetters(server, 'bad-1', 'bad-2', 'bad-3')
    const listed = await place.json<Listed[]>(['dead-letters', 'list'])
    expect(listed).toMatchObject([
      { eventId: 'bad-1', kind: 'custom', reason: expect.stringContaining('poisoned') },
      { eventId: 'bad-2' },
      { eventId: 'bad-3' },
    ])
    const [first, second, third] = listed.map(({ id }) => `${id}`) as [string, string, string]
    await send(server, custom('bad-1'))
    const retried = await place.run(['dead-letters', 'retry', first, second])
    expect(retried.status).toBe(0)
    expect(retried.stdout.split('\n').slice(1, 3)).toEqual([
      `${first.padEnd(2)}  duplicate`,
      `${second.padEnd(2)}  stored`,
    ])
    expect(await place.json(['dead-letters', 'drop', third])).toEqual({ dropped: 1 })
    expect(await place.json(['dead-letters', 'list'])).toEqual([])
    expect(await send(server, custom('bad-2'))).toMatchObject({ accepted: 0, duplicates: 1 })
    expect(eventsIn()).toBe(3)
  }, 300_000)

  test('without a server are retried by the command, with status 1 if refused again', async () => {
    const server = await place.serve()
    await addDeadLetters(server, 'bad-1', 'worse-bad')
    await server.end()
    withDatabase(database => poison(database, 'worse'))
    const { status, stdout } = await place.run(['dead-letters', 'retry', '--all', '--json'])
    expect(status).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject([{ verdict: 'stored' }, { verdict: 'refused' }])
    expect(await place.json<Listed[]>(['dead-letters', 'list'])).toMatchObject([
      { eventId: 'worse-bad' },
    ])
    expect(eventsIn()).toBe(2)
    expect(await place.json(['rebuild'])).toMatchObject({ changed: 0 })
  }, 300_000)

  test('that are unknown, not named, or named together with --all: nothing is done', async () => {
    const unknown = await place.run(['dead-letters', 'drop', '7', '8'])
    expect([unknown.status, unknown.stderr]).toEqual([
      1,
      'cairn: there is no dead letter 7, 8: nothing was done; "cairn dead-letters list" shows all\n',
    ])
    for (const wrong of [[], ['7', '--all'], ['7', 'x']]) {
      expect((await place.run(['dead-letters', 'retry', ...wrong])).status).toBe(2)
    }
  }, 300_000)
})

describe('compact', () => {
  test('makes a database of an older Cairn small, and able to shrink from then on', async () => {
    withDatabase(database => {
      database.run('pragma auto_vacuum = none')
      database.run('vacuum')
      database.run('create table filler (bytes blob) strict')
      for (let i = 0; i < 100; i++) database.run('insert into filler values (zeroblob(50000))')
      database.run('drop table filler')
    })
    const { bytesBefore, bytesAfter } = await place.json<Record<string, number>>(['compact'])
    expect(bytesBefore).toBeGreaterThan(5_000_000)
    expect(bytesAfter).toBeLessThan(1_000_000)
    expect(statSync(databaseFile(data)).size).toBe(bytesAfter as number)
    const mode = withDatabase(database => database.query('pragma auto_vacuum').values())
    expect(mode).toEqual([[2]])
    const [line] = await place.json<{ action: string; via: string }[]>(['audit'])
    expect(line).toMatchObject({ action: 'database.compact', via: 'command line' })
    const { status } = await place.run(['doctor', '--full'])
    expect(status).toBeLessThan(2)
  }, 300_000)
})

test('audit names settings as commands do, and an organisation without its id', async () => {
  await place.run(['org', 'set', 'retentionDays', '9'])
  const { stdout } = await place.run(['audit'])
  expect(stdout).toMatch(/ settings\.change +retentionDays/)
  expect(stdout).toMatch(/ organisation\.create +organisation/)
  expect(stdout).not.toContain(organisation.id)
  const [line] = await place.json<{ subject: string }[]>(['audit'])
  expect(line!.subject).toBe(organisation.id)
})

describe('rebuild', () => {
  test('counts flows and events, in the singular for one', async () => {
    expect(await place.run(['rebuild'])).toEqual({
      stdout: 'Rebuilt 1 flow from 0 events. Nothing changed.\n',
      stderr: '',
      status: 0,
    })
    expect(await place.json(['rebuild'])).toEqual({ flows: 1, events: 0, changed: 0 })
  })
})

test('a command without a server prints the cause of an error, because there is no log', async () => {
  const list = place.path('cairn-data/erasures.jsonl')
  writeFileSync(list, 'damaged\n')
  const erase = ['person', 'erase', 'ada', '--org', 'acme', '--yes']
  const damaged = await place.run(erase)
  expect([damaged.status, damaged.stderr]).toEqual([
    1,
    expect.stringContaining('erasures.jsonl is damaged in line 1'),
  ])
  rmSync(list)
  mkdirSync(list)
  expect((await place.run(erase)).stderr).toContain('EISDIR')
})
