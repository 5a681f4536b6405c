import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { recordedSchemas, writeReleased } from '../../scripts/support/released.ts'
import { apiOf, builtBinary, type Server, type Workplace } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import {
  batchesOf,
  storyAnswers,
  storyEvents,
  storyFingerprint,
  storyFlows,
  storyIds,
  tellStory,
} from '../support/release-story.ts'

/** Data of every past release, brought up to date by the start of the binary. */

const keepAll = ['--retention-days', '3650']
let fresh: Awaited<ReturnType<typeof storyAnswers>>

const analystOf = async (place: Workplace, server: Server) => {
  const { token } = await place.json<{ token: string }>(['token', 'issue'])
  return apiOf(server, token)
}

beforeAll(async () => {
  await builtBinary()
  const place = new CommandLine()
  try {
    const { snippetKey } = await place.json<{ snippetKey: string }>(['org', 'create', 'Acme'])
    const publish = async ({ name, text }: { name: string; text: string }) => {
      await Bun.write(join(place.folder, name), text)
      await place.run(['flows', 'push', name, '--publish'])
    }
    const [first, second] = storyFlows
    await publish(first!)
    const server = await place.serve(keepAll)
    const ask = apiOf(server, snippetKey)
    const ids = await storyIds(ask)
    await publish(second!)
    await tellStory(ask, ids)
    fresh = await storyAnswers(ask, await analystOf(place, server), ids)
  } finally {
    await place.close()
  }
})

test('the story has something of every kind', () => {
  const { totals, timeToComplete, steps, checklist } = fresh.all
  for (const count of Object.values(totals)) expect(count).toBeGreaterThan(0)
  expect([timeToComplete.count > 5, steps.length, checklist.items.length]).toEqual([true, 3, 2])
  expect(fresh.runs.length).toBeGreaterThan(50)
  expect(fresh.events.length).toBeGreaterThan(200)
})

test('every schema before the newest is recorded, or was in no release', () => {
  expect(recordedSchemas).toEqual([1, 2, 3, 4, 6, 10, 11])
})

describe.each([1, 2, 3, 4, 5, 6, 10, 11])('data of schema %i', schema => {
  let place: CommandLine
  let server: Server
  const data = () => join(place.folder, 'cairn-data')

  beforeAll(async () => {
    place = new CommandLine()
    writeReleased(data(), schema)
    server = await place.serve(keepAll)
  })
  afterAll(() => place.close())

  const snippet = async () => {
    const { snippetKey } = await place.json<{ snippetKey: string }>(['key', 'show'])
    const ask = apiOf(server, snippetKey)
    // All steps of the first version, because the newest lacks one of them.
    const { flow, items } = await storyIds(ask)
    const database = new Database(join(data(), 'cairn.db'), { readonly: true })
    const steps = database.query<[string, string], []>('select key, public_id from steps').values()
    database.close()
    return { ask, ids: { flow, items, steps: Object.fromEntries(steps) } }
  }

  test('gives the same answers as a fresh server that was told the same', async () => {
    const { ask, ids } = await snippet()
    const answers = await storyAnswers(ask, await analystOf(place, server), ids)
    expect(answers).toEqual(fresh)
  })

  test('knows every event by its id, and every step by its fingerprint', async () => {
    const { ask, ids } = await snippet()
    for (const events of batchesOf(storyEvents(ids), 50)) {
      const answer = await (await ask('POST', '/events', { events })).json()
      expect(answer).toMatchObject({ accepted: 0, duplicates: events.length, rejected: 0 })
    }
    const path = `/steps/${ids.steps.menu}/fingerprint`
    expect(await (await ask('POST', path, storyFingerprint)).json()).toMatchObject({
      status: 'match',
    })
  })

  test('is whole: a rebuild changes nothing, no page or reference is wrong', async () => {
    expect(await place.json<object>(['rebuild'])).toMatchObject({ flows: 1, changed: 0 })
    const { stdout, status } = await place.run(['doctor', '--full', ...keepAll])
    expect(status).toBe(0)
    expect(stdout).toContain('is whole (every page')
  })

  test('is kept as it was in a copy of its schema', () => {
    const isDue = schema < newest()
    const copies = readdirSync(data()).includes('backups')
      ? readdirSync(join(data(), 'backups'))
      : []
    const databases = copies.filter(name => name.endsWith('.db'))
    expect(databases).toHaveLength(isDue ? 1 : 0)
    if (!isDue) return
    expect(databases[0]).toStartWith(`before-schema-${schema + 1}-`)
    expect(schemaOf(join(data(), 'backups', databases[0]!))).toBe(schema)
  })

  const newest = () => schemaOf(join(data(), 'cairn.db'))
})

function schemaOf(file: string): number {
  const database = new Database(file, { readonly: true })
  const { schema } = database
    .query<{ schema: number }, []>('select max(id) as schema from migrations')
    .get()!
  database.close()
  return schema
}
