import { afterAll, expect, test } from 'bun:test'
import { scopes } from '../../src/core/organisation/access.ts'
import { tour } from '../support/flows.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** A step that has lost its element gets another selector, only in the draft. */

const world = new World()
afterAll(() => world.close())

const target = { selector: '#search', nth: 2, alternates: ['#find', '[name=q]'] }
const steps = [
  { key: 'hello', title: 'Hello' },
  { key: 'search', title: 'Search', target },
]

async function published() {
  const tenant = await Tenant.of(world)
  tenant.limit({ health: 1e6, fingerprint: 1e6 })
  const { steps: made } = tenant.publish(tour({ key: 'welcome', steps }))
  const credential = await tenant.managementToken(...scopes)
  const ask = (what: string, requested: Asked = {}) =>
    tenant.answer(what, { credential, ...requested })
  const stepId = made[1]!.id
  return {
    tenant,
    ask,
    report: (body: object) => tenant.answer(`POST /steps/${stepId}/health`, { body }),
    look: (body: object) => tenant.answer(`POST /steps/${stepId}/fingerprint`, { body }),
    repair: (body: object = {}, headers: Record<string, string> = { 'if-match': '*' }) =>
      ask('POST /manage/flows/welcome/steps/search/repair', { body, headers }),
    async draft() {
      const { body } = await ask('GET /manage/flows/welcome/draft')
      return { etag: body.etag, state: body.state, target: body.definition.steps[1].target }
    },
  }
}

test('a suggestion of fingerprints comes before one of reports, and is only in the draft', async () => {
  const { tenant, ask, report, look, repair, draft } = await published()
  const none = await repair()
  expect([none.status, none.body]).toMatchObject([409, { code: 'nothing_to_repair' }])

  await report({ outcome: 'found_by_alternate', selector: '#find', userId: 'ann' })
  const byReports = await repair({ note: 'As pages say' })
  expect([byReports.status, byReports.body]).toMatchObject([
    200,
    { step: 'search', outcome: 'repaired', suggestedBy: 'reports', before: '#search' },
  ])
  expect(byReports.body.flow).toMatchObject({ status: 'published', version: 1, hasDraft: true })
  // A suggested selector finds one element, and is not an alternate of itself.
  expect((await draft()).target).toMatchObject({
    ...{ selector: '#find', nth: null, alternates: ['[name=q]'] },
  })
  const again = await repair()
  expect(again.body).toMatchObject({ outcome: 'unchanged', before: '#find', selector: '#find' })

  await ask('DELETE /manage/flows/welcome/draft', { headers: { 'if-match': '*' } })
  const print = { selector: '#search', matchCount: 1, tag: 'input', id: 'search', text: 'Search' }
  await look({ fingerprint: print })
  await look({ fingerprint: null, candidates: [{ ...print, selector: 'main input' }] })
  expect((await repair()).body).toMatchObject({
    ...{ suggestedBy: 'fingerprints', selector: 'main input', outcome: 'repaired' },
  })
  expect((await draft()).target.alternates).toEqual(['#find', '[name=q]'])

  const { body } = await ask('GET /manage/audit?subject=welcome')
  expect(body.lines.map(({ action }: { action: string }) => action)).toEqual([
    'flow.repair',
    'flow.discard',
    'flow.repair',
  ])
  expect(body.lines[2]).toMatchObject({
    ...{ via: 'token', note: 'As pages say', before: { hasDraft: false }, after: { version: 1 } },
  })
  const pages = (await tenant.answer('GET /flows')).body.flows[0]
  expect([pages.version, pages.steps[1].target.selector]).toEqual([1, '#search'])
})

test('a selector that finds the element by itself removes its place among others', async () => {
  const { repair, draft } = await published()
  const same = await repair({ selector: '#search', alone: true })
  expect(same.body).toMatchObject({ outcome: 'repaired', suggestedBy: null })
  expect((await draft()).target).toMatchObject({ ...target, nth: null })
  const again = await repair({ selector: '#search', alone: true })
  expect(again.body).toMatchObject({ outcome: 'unchanged' })
  const without = await repair({ alone: true })
  expect([without.status, without.body.details[0].path]).toEqual([422, '/selector'])
})

test('a selector that is given is judged, keeps the rest of the target, and needs no suggestion', async () => {
  const { repair, draft } = await published()
  const wrong = await repair({ selector: 'div[' })
  expect([wrong.status, wrong.body.details[0].path]).toEqual([422, '/selector'])
  expect((await draft()).state).toBe('published')
  const given = await repair({ selector: '.search input' })
  expect(given.body).toMatchObject({ outcome: 'repaired', suggestedBy: null })
  expect((await draft()).target).toMatchObject({ ...target, selector: '.search input' })
})
