import { expect, test } from 'bun:test'
import type { Stores } from '../../src/app.ts'
import type { Catalogue } from '../../src/core/organisation/catalogue.ts'
import { tour } from '../support/flows.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Stores whose catalogue answers every look-up by a promise, as one on another machine does. */
function distant(own: Stores): Stores {
  const answering = {
    get:
      (near: Catalogue, name: keyof Catalogue) =>
      async (...args: readonly unknown[]) => {
        await Bun.sleep(0)
        return (near[name] as (...args: readonly unknown[]) => unknown)(...args)
      },
  }
  const catalogue = () => new Proxy(own.catalogue(), answering as ProxyHandler<Catalogue>)
  return { ...own, catalogue }
}

/** Every kind of request for which something is looked up, with its answer. */
async function story(world: World) {
  const [tenant, other] = [await Tenant.of(world), await Tenant.of(world)]
  const checklist = { items: [{ key: 'one', title: 'One', completeOn: { event: 'done' } }] }
  const flow = tenant.publish(tour({ key: 'tour' }))
  const list = tenant.publish({ key: 'list', name: 'List', kind: 'checklist', checklist })
  const foreign = other.publish(tour({ key: 'theirs' }))
  const manager = await tenant.managementToken('flows:read', 'people:read')
  const step = flow.steps[0]!.id
  const item = list.checklist!.items[0]!.id
  const named = { kind: 'step_viewed', flowId: flow.id, stepId: step }
  const events = [
    named,
    { ...named, stepId: 'step_of_nobody' },
    { ...named, flowId: 'flow_of_nobody' },
    { ...named, flowId: foreign.id },
    { ...named, flowId: foreign.id, kind: 7 },
    { kind: 'item_completed', flowId: list.id, itemId: item },
    { kind: 'item_completed', flowId: flow.id, itemId: item },
    { kind: 'custom', name: 'done' },
    'no event',
    null,
  ].map(event =>
    typeof event === 'object' && event !== null ? { userId: 'ann', ...event } : event,
  )
  const credential = manager
  const asked: [string, Parameters<Tenant['ask']>[1]?][] = [
    ['POST /events', { body: { events } }],
    ['POST /events', { body: { events: [{ ...named, userId: 'ann', flowId: foreign.id }] } }],
    ['GET /flows'],
    ['GET /flows', { credential: 'pk_wrong' }],
    [
      'GET /flows',
      { credential: `${tenant.key.slice(0, -1)}${tenant.key.endsWith('a') ? 'b' : 'a'}` },
    ],
    ['GET /flows?userId=ann'],
    [`GET /flows/${flow.id}`],
    ['GET /flows/flow_of_nobody'],
    [`GET /flows/${foreign.id}`],
    [`GET /flows/${list.id}/checklist-progress?userId=ann`],
    [`POST /flows/${flow.id}/complete`, { body: { userId: 'ann' } }],
    [`POST /steps/${step}/health`, { body: { outcome: 'found', userId: 'ann' } }],
    [`POST /steps/${step}/fingerprint`, { body: { fingerprint: null } }],
    ['POST /steps/step_of_nobody/health', { body: { outcome: 'found' } }],
    [`POST /steps/${foreign.steps[0]!.id}/health`, { body: { outcome: 'found' } }],
    ['GET /heartbeat?v=1.0.0&userId=ann'],
    ['GET /snippet-status'],
    [`GET /flows/${flow.id}/analytics`],
    [`GET /flows/${flow.id}/analytics/export.csv?rows=runs`],
    ['GET /manage/me', { credential }],
    ['GET /manage/install', { credential }],
    ['GET /manage/health', { credential }],
    ['POST /manage/explain', { credential, body: { flow: 'tour', url: 'https://a.example/' } }],
    ['GET /manage/me', { asOperator: true }],
    ['GET /manage/me', { asOperator: true, headers: { 'cairn-organisation': 'nobody' } }],
  ]
  const answers: { asked: string; status: number; body: string }[] = []
  for (const [what, how] of asked) {
    const response = await tenant.ask(what, how)
    answers.push({ asked: what, status: response.status, body: await response.text() })
  }
  // Ids, and hashes of texts with ids, differ from world to world, so each becomes its number of appearance.
  const ids: string[] = []
  const numbered = (text: string) =>
    text.replace(
      /\b(flow|step|item|org|token|req|pk)_\w+|(?<=ersion\\":\\")\w+|[0-9a-f-]{36}|Tenant \d+|tenant-\d+|(?<=snippetKey\\":\\")\w+/g,
      id => {
        if (!ids.includes(id)) ids.push(id)
        return `#${ids.indexOf(id)}`
      },
    )
  return JSON.parse(numbered(JSON.stringify(answers)))
}

test('a catalogue that answers with promises serves the same as a synchronous one', async () => {
  const [near, far] = [new World(), new World({ stores: distant })]
  try {
    const told = await story(far)
    expect(told).toEqual(await story(near))
    const statuses = told.map(({ status }: { status: number }) => status)
    expect(statuses).toEqual([
      202, 401, 200, 401, 401, 200, 200, 404, 401, 200, 200, 202, 200, 404, 401, 200, 200, 200, 200,
      200, 200, 200, 200, 200, 404,
    ])
  } finally {
    await near.close()
    await far.close()
  }
})
