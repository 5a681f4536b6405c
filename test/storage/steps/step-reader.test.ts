import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { StepReader } from '../../../src/storage/steps/step-reader.ts'
import { tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())
const reader = new StepReader(world.reading)

const minute = 60_000
const hour = 60 * minute

let tenant: Tenant
let flow: PublishedFlow
beforeEach(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ health: 100_000, fingerprint: 100_000 })
  flow = tenant.publish(tour())
})

const stepRow = () =>
  world.database
    .query<{ id: number }, [string]>('select id from steps where public_id = ?')
    .get(flow.steps[1]!.id)!.id

const evidence = (version = 1) => reader.evidence(tenant.row, stepRow(), version, world.clock.now())

let people = 0
const report = async (outcome: string, more: object = {}) => {
  const body = { outcome, userId: `p${++people}`, ...more }
  await tenant.ask(`POST /steps/${flow.steps[1]!.id}/health`, { body })
}

const print = (more: object = {}) => ({
  selector: '#search',
  matchCount: 1,
  tag: 'input',
  id: 'search',
  name: 'Search',
  attributes: { type: 'search' },
  ...more,
})
const look = (fingerprint: object | null, candidates: object[] = []) =>
  tenant.ask(`POST /steps/${flow.steps[1]!.id}/fingerprint`, { body: { fingerprint, candidates } })

test('without a report there is no evidence, in every field', async () => {
  expect(await evidence()).toMatchObject({
    lastFindAt: null,
    lastMissAt: null,
    missesSince: null,
    makeshiftSince: null,
    pages: [],
    messages: [],
    fingerprints: { baselineAt: null, match: 0, drift: 0, gone: 0, latest: null, suggestion: null },
  })
})

describe('of reports', () => {
  test('people count once, reports each time, and those without a person are reports alone', async () => {
    await report('not_found', { userId: 'ann' })
    await report('found', { userId: 'ann' })
    await report('hidden', { userId: null })
    const { people, reports } = await evidence()
    expect(people).toMatchObject({ found: 1, not_found: 0, hidden: 0 })
    expect(reports).toMatchObject({ found: 1, not_found: 1, hidden: 1 })
  })

  test('pages are told without query and fragment, those with most misses first', async () => {
    await report('not_found', { url: 'https://app.example/a?token=1#x' })
    await report('not_found', { url: 'https://app.example/a#y?z' })
    await report('changed', { url: 'https://app.example/b' })
    await report('found', { url: 'https://app.example/b' })
    await report('found', { url: 'https://app.example/b' })
    await report('error')
    expect((await evidence()).pages).toEqual([
      { page: 'https://app.example/a', reports: 2, misses: 2, makeshift: 0 },
      { page: null, reports: 1, misses: 1, makeshift: 0 },
      { page: 'https://app.example/b', reports: 3, misses: 0, makeshift: 1 },
    ])
  })

  test('the selector by which most found it otherwise is named', async () => {
    await report('found_by_alternate', { selector: '#a' })
    for (let i = 0; i < 2; i++) await report('found_by_alternate', { selector: '#b' })
    for (let i = 0; i < 3; i++) await report('found', { selector: '#search' })
    await report('found_by_alternate')
    expect((await evidence()).alternate).toEqual({ selector: '#b', reports: 2 })
  })

  test('messages are counted, the latest first, three at most', async () => {
    for (const message of ['one', 'two', 'three', 'one', 'four']) {
      await report('error', { message })
      world.clock.advance(1_000)
    }
    const { messages } = await evidence()
    expect(messages.map(({ message, reports }) => [message, reports])).toEqual([
      ['four', 1],
      ['one', 2],
      ['three', 1],
    ])
  })

  test('say since when they are bad: the first miss after the finds', async () => {
    for (let i = 0; i < 20; i++) await report('found')
    world.clock.advance(2 * hour)
    const brokeAt = world.clock.now()
    for (let i = 0; i < 20; i++) await report(i === 7 ? 'found' : 'not_found')
    world.clock.advance(hour)
    await report('not_found')
    expect(await evidence()).toMatchObject({
      missesSince: brokeAt,
      makeshiftSince: null,
      lastFindAt: brokeAt,
      lastMissAt: brokeAt + hour,
    })
  })

  test('count for a day, and the moment since when is found for longer', async () => {
    const brokeAt = world.clock.now()
    for (let i = 0; i < 6; i++) await report('not_found', { userId: `old${i}` })
    world.clock.advance(30 * hour)
    for (let i = 0; i < 6; i++) await report('not_found', { userId: `new${i}` })
    expect(await evidence()).toMatchObject({ people: { not_found: 6 }, missesSince: brokeAt })
  })

  test('are one version’s and one organisation’s own', async () => {
    await report('not_found')
    tenant.publish(tour({ name: 'Second' }))
    await report('found')
    expect((await evidence(1)).people).toMatchObject({ not_found: 1, found: 0 })
    expect((await evidence(2)).people).toMatchObject({ not_found: 0, found: 1 })
    const another = await Tenant.of(world)
    const foreign = await reader.evidence(another.row, stepRow(), 2, world.clock.now())
    expect(foreign.people).toMatchObject({ not_found: 0, found: 0 })
  })
})

describe('of fingerprints', () => {
  test('verdicts are counted, the latest is told with its score', async () => {
    await look(print())
    const baselineAt = world.clock.now()
    world.clock.advance(1_000)
    await look(print())
    await look(null)
    await look(print({ id: 'q' }))
    const { fingerprints } = await evidence()
    expect(fingerprints).toMatchObject({ baselineAt, match: 1, drift: 1, gone: 1 })
    expect(fingerprints.latest).toMatchObject({ status: 'drift', at: world.clock.now() })
  })

  test('the selector suggested most often is named, with how often', async () => {
    await look(print())
    await look(null, [print({ selector: '#a' })])
    await look(null, [print({ selector: '#b' })])
    await look(null, [print({ selector: '#b' })])
    await look(null)
    // Well, so it calls for nothing.
    await look(print())
    const { suggestion } = (await evidence()).fingerprints
    expect(suggestion).toEqual({ selector: '#b', times: 2, of: 4 })
  })

  test('an element that is found, but not by the step’s selector alone, gets one suggested', async () => {
    await look(print())
    await look(print({ matchCount: 2 }), [print({ selector: 'form #search' })])
    expect((await evidence()).fingerprints).toMatchObject({
      match: 1,
      suggestion: { selector: 'form #search', times: 1, of: 1 },
    })
  })
})
