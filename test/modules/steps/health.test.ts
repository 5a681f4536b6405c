import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let flow: PublishedFlow
beforeEach(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ health: 100_000 })
  flow = tenant.publish(tour())
})

const hour = 3_600_000

const report = async (outcome: string, more: object = {}) => {
  const body = { outcome, ...more }
  const answer = await tenant.answer(`POST /steps/${flow.steps[1]!.id}/health`, { body })
  expect(answer.status).toBe(202)
  return answer.body
}

let people = 0

/** Sends one report each from the given number of new people per outcome; returns the last state. */
async function reports(counts: Record<string, number>): Promise<string> {
  let state = ''
  for (const [outcome, count] of Object.entries(counts)) {
    for (let i = 0; i < count; i++) {
      state = (await report(outcome, { userId: `p${++people}` })).state
    }
  }
  return state
}

/** What analytics say of the step's health. */
const health = async () => {
  const { body } = await tenant.answer(`GET /flows/${flow.id}/analytics`)
  return body.steps[1].health
}

describe('the state', () => {
  test('keeps users and anonymous people of one name apart', async () => {
    await report('found', { userId: 'u' })
    await report('found', { anonymousId: 'u' })
    expect((await health()).reports).toBe(2)
  })

  test('looks back 24 hours and no further', async () => {
    await reports({ not_found: 5 })
    world.clock.advance(24 * hour - 1)
    expect((await health()).state).toBe('broken')
    world.clock.advance(1)
    expect(await health()).toEqual({ state: 'unknown', okRate: null, reports: 0 })
  })

  test('is about the published version: reports of others are kept, but not counted', async () => {
    await reports({ not_found: 5 })
    tenant.publish(tour({ name: 'Second' }))
    expect((await health()).state).toBe('unknown')
    for (let i = 0; i < 5; i++) await report('error', { userId: `old${i}`, flowVersion: 1 })
    expect((await health()).reports).toBe(0)
    await reports({ found: 5 })
    expect((await health()).state).toBe('healthy')
  })
})
