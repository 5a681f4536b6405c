import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Operations } from '../../../../src/modules/operations/service.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { beginErasure } from '../../../../src/storage/sqlite/erasure/erasures.ts'
import {
  deadLetterIds,
  listDeadLetters,
} from '../../../../src/storage/sqlite/ledger/dead-letters.ts'
import { personData } from '../../../../src/storage/sqlite/people/person-data.ts'
import { rebuild } from '../../../../src/storage/sqlite/projections/rebuild.ts'
import { eraseBeside, textsIn } from '../../../support/erasing.ts'
import { poison, storedEvents } from '../../../support/ledger.ts'
import { type PublishedFlow, Tenant } from '../../../support/tenant.ts'
import { World } from '../../../support/world.ts'

let world: World
let tenant: Tenant
let flow: PublishedFlow
/** A command's connection. */
let own: Database

beforeEach(async () => {
  world = new World()
  tenant = await Tenant.of(world)
  flow = tenant.publish({
    key: 'tour',
    name: 'Tour',
    kind: 'tour',
    steps: [{ key: 'a', kind: 'modal', title: 'A' }],
  })
  own = openForWriting(world.dataDir)
})
afterEach(async () => {
  own.close()
  await world.close()
})

const event = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  kind: 'flow_started',
  flowId: flow.id,
  userId: id,
  url: `https://app.example/${id}`,
  properties: { of: id },
  ...more,
})

/** Sends events whose ids contain "bad" behind a good one, so that they become dead letters. */
async function bury(...ids: string[]): Promise<number[]> {
  poison(world.database, 'bad')
  const { body } = await tenant.send([event('good'), ...ids.map(id => event(id))])
  expect(body.results).toHaveLength(ids.length)
  world.database.run('drop trigger poison')
  return lettersOf(tenant)
}

const lettersOf = ({ row }: Tenant) => deadLetterIds(own, row).map(({ id }) => id)

const actor = { via: 'command line', name: 'test', requestId: null } as const
const service = () => new Operations(world.management.operations, world.clock)

const retry = async (letters: readonly number[], by = tenant) =>
  (await service().retryLetters(by.ref, { ids: letters }, actor)).map(({ id, verdict }) => [
    id,
    verdict,
  ])

const stored = () => storedEvents(own, tenant.row)

test('an event is kept under the field names that every release has written', async () => {
  await bury('bad-1')
  const { event } = own.query<{ event: string }, []>('select event from dead_letters').get()!
  const { ref: flowRow } = world.byRow.catalogue().flow(flow.id)!
  expect(JSON.parse(event)).toMatchObject({ id: 'bad-1', flowRow, stepRow: null, itemRow: null })
})

test('a letter that is refused again stays, with the new reason, and its neighbours are stored', async () => {
  const letters = await bury('bad-1', 'bad-2', 'bad-3')
  poison(world.database, 'bad-2')
  world.database.run('drop trigger poison')
  world.database.run(
    `create trigger poison before insert on runs when new.person = 'ubad-2'
    begin select raise(abort, 'a new reason'); end`,
  )
  const verdicts = await retry(letters)
  expect(verdicts.map(([, verdict]) => verdict)).toEqual(['stored', 'refused', 'stored'])
  const { letters: left } = listDeadLetters(own, tenant.row, 10)
  expect(left).toMatchObject([
    { eventId: 'bad-2', reason: expect.stringContaining('a new reason') },
  ])
  expect(stored().map(({ id }) => id)).toEqual(['good', 'bad-1', 'bad-3'])
  world.database.run('drop trigger poison')
  expect(rebuild(own).changed).toBe(0)
})

test('letters that do not fit into one transaction are all retried', async () => {
  const [letter] = (await bury('bad-1')) as [number]
  for (let i = 0; i < 150; i++) {
    own.run(
      `insert into dead_letters (org_id, at, error, event)
      select org_id, at, error, json_replace(event, '$.id', ?) from dead_letters where seq = ?`,
      [`bad-1-${i}`, letter],
    )
  }
  const verdicts = await retry(lettersOf(tenant))
  expect(verdicts.map(([, verdict]) => verdict)).toEqual(Array(151).fill('stored'))
})

describe('of somebody who is erased', () => {
  const of = (person: string) => ({
    orgRef: tenant.row,
    orgId: tenant.organisation.id,
    person,
  })

  /** A completion, a tick and a health report of one person, all of which the database refuses. */
  async function buryReports(userId: string): Promise<number[]> {
    for (const table of ['event_batches', 'step_reports']) {
      world.database.run(
        `create trigger poison_${table} before insert on ${table}
        begin select raise(abort, 'poisoned'); end`,
      )
    }
    const { ref: flowRef } = world.byRow.catalogue().flow(flow.id)!
    const report = { orgRef: tenant.row, flowRef, userId, anonymousId: null }
    const receivedAt = world.clock.now()
    const step = `POST /steps/${flow.steps[0]?.id}/health`
    const { ledger } = world.byRow
    const item = { itemRef: 1, completed: true }
    await Promise.allSettled([
      ledger.complete({ ...report, runId: 'r', completedAt: 7, receivedAt }),
      ledger.tick({ ...report, items: [item], receivedAt }),
      tenant.ask(step, { body: { outcome: 'found', message: `of ${userId}`, userId } }),
    ])
    for (const table of ['event_batches', 'step_reports']) {
      world.database.run(`drop trigger poison_${table}`)
    }
    return lettersOf(tenant)
  }

  test('letters are refused when they are retried, and deleted with the erasure', async () => {
    await bury('bad-ada')
    const letters = await buryReports('bad-ada')
    expect(listDeadLetters(own, tenant.row, 9).letters.map(({ kind }) => kind)).toEqual([
      'flow_started',
      'complete',
      'tick',
      'health',
    ])
    beginErasure(own, world.dataDir, of('ubad-ada'), world.clock.now())
    expect(await retry(letters)).toEqual(letters.map(letter => [letter, 'refused']))
    expect(stored().map(({ id }) => id)).toEqual(['good'])
    expect(await eraseBeside(world, of('ubad-ada'))).toMatchObject({ deadLetters: 4 })
    expect(lettersOf(tenant)).toEqual([])
    expect(textsIn(world.dataDir, ['bad-ada'])).toEqual([])
  })

  test('reports that came alone are part of their export', async () => {
    await buryReports('bad-ada')
    const sections = [...personData(own, of('ubad-ada'))]
    const [...rows] = sections.find(({ section }) => section === 'deadLetters')!.rows
    expect(rows.filter(row => row !== null)).toMatchObject([
      { report: { type: 'complete', flowId: flow.id, runId: 'r' } },
      { report: { type: 'tick', flowId: flow.id } },
      { report: { type: 'health', stepId: flow.steps[0]?.id, message: 'of bad-ada' } },
    ])
  })
})
