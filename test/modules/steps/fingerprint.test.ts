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
  tenant.limit({ fingerprint: 100_000 })
  flow = tenant.publish(tour())
})

const at = () => new Date(world.clock.now()).toISOString()
const searchStep = () => flow.steps[1]!.id

const print = (more: Record<string, unknown> = {}) => ({
  selector: '#search',
  matchCount: 1,
  tag: 'INPUT',
  id: 'search',
  testId: { attr: 'data-testid', value: 'search' },
  role: 'searchbox',
  name: 'Search',
  text: 'Search',
  ancestors: [{ tag: 'form' }, { tag: 'header' }],
  attributes: { type: 'search' },
  ...more,
})

const report = async (fingerprint: unknown, more: object = {}) => {
  const body = { fingerprint, ...more }
  const answer = await tenant.answer(`POST /steps/${searchStep()}/fingerprint`, { body })
  expect(answer.status).toBe(200)
  return answer.body
}

describe('over a new version', () => {
  test('with the same target the baseline is kept', async () => {
    const baselineAt = at()
    await report(print())
    world.clock.advance(1_000)
    tenant.publish(tour({ name: 'Renamed', priority: 3 }))
    expect(await report(print())).toMatchObject({ status: 'match', baselineAt })
  })

  test('with more ways to find the same element the baseline is kept', async () => {
    const baselineAt = at()
    await report(print())
    world.clock.advance(1_000)
    const { target, ...step } = tour().steps[1]!
    const more = {
      alternates: ['[name=q]'],
      fingerprint: { tag: 'input', id: 'search', role: 'searchbox', text: 'Search' },
    }
    tenant.publish(tour({ steps: [tour().steps[0], { ...step, target: { ...target, ...more } }] }))
    expect(await report(print())).toMatchObject({ status: 'match', baselineAt })
  })

  test('a step that is gone for a while keeps its baseline', async () => {
    const step = searchStep()
    const seen = (more: object = {}) =>
      tenant.answer(`POST /steps/${step}/fingerprint`, { body: { fingerprint: print(), ...more } })
    const baselineAt = at()
    await report(print())
    world.clock.advance(1_000)
    tenant.publish(tour({ steps: [tour().steps[0]] }))
    // Pages that still show the older version are still judged, and set no new baseline.
    for (const more of [{ flowVersion: 1 }, {}]) {
      expect((await seen(more)).body).toMatchObject({ status: 'match', baselineAt })
    }
    tenant.publish(tour())
    expect((await seen()).body).toMatchObject({ status: 'match', baselineAt })
  })
})

test('only allowed attributes are kept, and nothing that people type', async () => {
  const secret = 'a secret that was typed'
  await report(
    print({
      attributes: {
        name: 'q',
        type: 'search',
        value: secret,
        'data-user': secret,
        'data-test-x': 'kept',
        href: `https://app.example/path?token=${secret}#${secret}`,
        onclick: secret,
        style: secret,
      },
      innerHTML: secret,
    }),
  )
  const rows = world.database
    .query<{ fingerprint: string }, [number]>(
      `select fingerprint from step_fingerprints where org_id = ?1
      union all select fingerprint from step_baselines where org_id = ?1`,
    )
    .all(tenant.row)
  expect(rows).toHaveLength(2)
  for (const { fingerprint } of rows) {
    expect(fingerprint).not.toContain('secret')
    expect(JSON.parse(fingerprint).attributes).toEqual({
      name: 'q',
      type: 'search',
      'data-test-x': 'kept',
      href: '/path',
    })
  }
})
