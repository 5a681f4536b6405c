import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonSchema } from '../../src/core/flow/schema.ts'
import { scopes } from '../../src/core/organisation/access.ts'
import { dayMs, hourMs } from '../../src/core/time/durations.ts'
import { defaultBodyLimitBytes, type Route } from '../../src/http/route.ts'
import { Description, type Document } from '../support/described.ts'
import { tour } from '../support/flows.ts'
import { Generator } from '../support/generated.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** The management API: who is let in, and what authors and owners do with it. */

const world = new World()
afterAll(() => world.close())

const tenant = await Tenant.of(world)
const description = new Description(
  (await tenant.answer('GET /openapi.json', { credential: null })).body as unknown as Document,
)
const generator = new Generator(description, {})
const validBody = (schema: JsonSchema) =>
  fc.sample(generator.valid(schema), { numRuns: 1, seed: 1 })[0]
tenant.limit({ manage: 1e6 })
const everything = await tenant.managementToken(...scopes)

const routes = world.routes.filter(({ caller }) => caller === 'management')

/** Each route with a pattern that finds it by the path of a request. */
const templates = description.managing.map(({ method, path }) => ({
  method,
  path,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Asks, and checks the answer against the description. */
async function ask(what: string, requested: Asked & { by?: Tenant } = {}) {
  const [method = '', target = ''] = what.split(' ')
  const path = target.split('?')[0]!
  const route = templates.find(one => one.method === method && one.pattern.test(path))
  const { by = tenant, ...rest } = requested
  const response = await by.ask(what, { credential: everything, ...rest })
  const copy = response.clone()
  await description.check(method, route!.path, response)
  const text = await copy.text()
  return {
    status: copy.status,
    etag: copy.headers.get('etag') ?? '',
    headers: copy.headers,
    body: (text === '' ? null : JSON.parse(text)) as never,
  }
}

const named = routes.map(route => {
  const to = route.path
    .replace(':key', 'nothing')
    .replace(':version', '1')
    .replace(':token_id', 'token_x')
  return [`${route.method} ${to}`, route] as const
})

describe('who is let in', () => {
  const strangers: [what: string, credential: string | null][] = []
  beforeAll(async () => {
    const revoked = await tenant.managementToken(...scopes)
    const { body: list } = await ask('GET /manage/tokens')
    const [{ id }] = (list as { tokens: [{ id: string }] }).tokens
    expect((await ask(`DELETE /manage/tokens/${id}`)).status).toBe(204)
    const mistyped = `${everything.slice(0, -1)}${everything.endsWith('A') ? 'B' : 'A'}`
    const credentials = { key: tenant.key, token: tenant.token, short: 'crn_', mistyped, revoked }
    strangers.push(['none', null], ...Object.entries(credentials))
  })

  test.each(named)('%s: nobody without a good management token', async (what, { body }) => {
    const requested = body ? { body: {} } : {}
    for (const [stranger, credential] of strangers) {
      const { status, body: refusal } = await ask(what, { ...requested, credential })
      const refused = { status: 401, refusal: { error: 'Unauthorized' } as never }
      expect({ stranger, status, refusal }).toEqual({ stranger, ...refused })
    }
  })

  test.each(named.filter(([, route]) => route.caller === 'management' && route.needs !== 'any'))(
    '%s: nobody without the scope, which is named',
    async (what, route) => {
      const needs = (route as { needs: string }).needs
      const others = scopes.filter(scope => scope !== needs)
      const credential = await tenant.managementToken(...others)
      const { status, body } = await ask(what, { ...(route.body && { body: {} }), credential })
      expect(status).toBe(403)
      const named = needs === 'operator' ? {} : { scope: needs }
      expect(body).toMatchObject({ code: 'forbidden', ...named })
    },
  )
})

describe('bad input', () => {
  const isOperators = (route: Route) => route.caller === 'management' && route.needs === 'operator'
  const headers = { 'if-match': '*' }

  test.each(named.filter(([, { body }]) => body))(
    '%s: a body of another form, type, size or field',
    async (what, route) => {
      const sent = (body: unknown, more = {}) =>
        ask(what, { body, headers: { ...headers, ...more }, asOperator: isOperators(route) })
      const ofBytes = async (bytes: number) => (await sent('['.padEnd(bytes))).status
      const limit = route.bodyLimitBytes ?? defaultBodyLimitBytes
      expect([await ofBytes(limit), await ofBytes(limit + 1)]).toEqual([400, 413])
      expect((await sent('')).status).toBe(400)
      const list = await sent('[]')
      expect([list.status, list.body]).toMatchObject([422, { details: [{ path: '' }] }])
      expect((await sent('{}', { 'content-type': 'text/xml' })).status).toBe(415)
      const unknown = await sent({ nonsense: 1 })
      expect(unknown.status).toBe(422)
      expect(JSON.stringify(unknown.body)).toContain('/nonsense')
    },
  )

  test.each(named)('%s: a parameter that it does not have', async (what, route) => {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    const { requestBody } = description.document.paths[path]![route.method.toLowerCase()]!
    const schema = requestBody?.content['application/json']?.schema
    const { status, body } = await ask(`${what}?nonsense=1`, {
      ...(schema && { body: validBody(schema) }),
      ...{ headers, asOperator: isOperators(route) },
    })
    expect([status, body]).toMatchObject([422, { code: 'validation_failed' }])
    const details = [{ path: '/nonsense', message: 'Unknown parameter' }]
    expect(body).toHaveProperty('details', details)
  })

  test('flows are judged by the rules of flow files, and with a bad one none is kept', async () => {
    const flows = [tour({ key: 'good' }), { key: 'bad', steps: [{ key: 'a', kind: 'tooltip' }] }]
    const { status, body } = await ask('POST /manage/push', { body: { flows } })
    expect(status).toBe(422)
    expect(body).toMatchObject({ details: [{ path: '/flows/1/steps/0/target' }] })
    expect((await ask('GET /manage/flows/good/draft')).status).toBe(404)
  })
})

describe('authoring', () => {
  test('two editors race: one gets 412 with who was quicker, and nothing is lost', async () => {
    const body = tour({ key: 'raced' })
    const { etag } = await ask('PUT /manage/flows/raced/draft', {
      body,
      headers: { 'if-none-match': '*' },
    })
    const edit = (name: string) =>
      ask('PUT /manage/flows/raced/draft', {
        body: { ...body, name },
        headers: { 'if-match': etag },
      })
    const answers = await Promise.all(['Ann', 'Bob', 'Cleo', 'Dan'].map(edit))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412])
    const winner = answers.find(({ status }) => status === 200)!
    const { body: now } = await ask('GET /manage/flows/raced/draft')
    expect(now).toMatchObject({ name: (winner.body as { name: string }).name })
  })

  test('a draft can be discarded, except where there is no published version to go back to', async () => {
    const body = tour({ key: 'given-up' })
    await ask('POST /manage/push', { body: { flows: [body], publish: true } })
    const headers = { 'if-match': '*' }
    await ask('PUT /manage/flows/given-up/draft', { body: { ...body, name: 'No' }, headers })
    const { body: after } = await ask('DELETE /manage/flows/given-up/draft', { headers })
    expect(after).toMatchObject({ hasDraft: false, state: 'published' })
    await ask('POST /manage/push', { body: { flows: [tour({ key: 'new' })] } })
    const { status, body: refusal } = await ask('DELETE /manage/flows/new/draft', { headers })
    expect([status, refusal]).toMatchObject([404, { code: 'version_not_found' }])
  })

  test('pages see a change in the first request after its answer', async () => {
    const seen = async () => {
      const { body } = await tenant.answer('GET /flows')
      return (body as unknown as { flows: { key: string }[] }).flows.map(({ key }) => key)
    }
    await ask('POST /manage/push', { body: { flows: [tour({ key: 'seen' })], publish: true } })
    expect(await seen()).toContain('seen')
    await ask('POST /manage/flows/seen/unpublish', { body: {} })
    expect(await seen()).not.toContain('seen')
  })

  test('a file is validated with lines and columns', async () => {
    const text = 'key: welcome\nsteps:\n  - { key: a, title: A, kind: tooltip }\n'
    const { body } = await ask('POST /manage/validate', { body: { text } })
    expect(body).toMatchObject({ valid: false, problems: [{ code: 'missing_target', line: 3 }] })
  })

  test('a flow of a validated file may wait for one that the organisation has', async () => {
    await ask('POST /manage/push', { body: { flows: [tour({ key: 'drafted' })] } })
    await ask('POST /manage/push', { body: { flows: [tour({ key: 'before' })], publish: true } })
    const codesOf = async (after: string) => {
      const text = JSON.stringify({ ...tour({ key: 'later' }), when: { after } })
      const { body } = await ask('POST /manage/validate', { body: { text } })
      return (body as unknown as { problems: { code: string }[] }).problems.map(({ code }) => code)
    }
    expect(await codesOf('before')).toEqual([])
    expect(await codesOf('drafted')).toEqual(['unpublished_flow'])
    expect(await codesOf('nowhere')).toEqual(['unknown_flow'])
  })
})

describe('settings', () => {
  const patch = (by: Tenant, body: object, requested: Asked = { asOperator: true }) =>
    ask('PATCH /manage/settings', { by, body, ...requested })

  test('apply from the next request on when they are changed, and the rest stays', async () => {
    const one = await Tenant.of(world)
    const credential = await one.managementToken('settings:write')
    const origins = ['https://App.example']
    const set = await patch(one, { origins, honoursDoNotTrack: true }, { credential })
    expect([set.status, set.body]).toMatchObject([
      200,
      { origins: ['https://app.example'], honoursDoNotTrack: true, retentionDays: null },
    ])
    const foreign = await one.ask('GET /flows', { headers: { origin: 'https://x.example' } })
    expect(foreign.status).toBe(403)
    expect((await patch(one, { retentionDays: 30 }, { credential })).body).toMatchObject({
      origins: ['https://app.example'],
      retentionDays: 30,
    })
    const { id } = one.organisation
    const { body: audit } = await ask(`GET /manage/audit?subject=${id}`, { by: one, credential })
    expect(audit).toMatchObject({
      lines: [
        { action: 'settings.change', subject: id, after: { retentionDays: 30 } },
        { action: 'settings.change', before: { origins: [], honoursDoNotTrack: false } },
      ],
    })
  })

  test('a wrong theme is explained in words, and a new one gives pages another ETag', async () => {
    const one = await Tenant.of(world)
    const { body: refusal } = await patch(one, { theme: { accent: 'red;' } })
    expect(refusal).toMatchObject({
      details: [
        { path: '/theme/accent', message: expect.stringContaining('a CSS colour such as') },
      ],
    })
    const { body: unknown } = await patch(one, { theme: { accent: 'bleu' } })
    const message = 'Must be a CSS colour such as #1f6feb or rgb(31 111 235): did you mean "blue"?'
    expect(unknown).toMatchObject({ details: [{ path: '/theme/accent', message }] })
    const before = await one.ask('GET /flows')
    expect(await before.json()).not.toHaveProperty('theme')
    const theme = { accent: '#0b7285', progress: 'dots' }
    expect((await patch(one, { theme })).body).toMatchObject({ theme: { ...theme, radius: null } })
    const unless = (response: Response) =>
      one.ask('GET /flows', { headers: { 'if-none-match': response.headers.get('etag')! } })
    const after = await unless(before)
    expect([after.status, await after.json()]).toMatchObject([200, { theme }])
    expect((await unless(after)).status).toBe(304)
  })

  test('only the operator may set limits; a token with every scope sets nothing by trying', async () => {
    const one = await Tenant.of(world)
    const credential = await one.managementToken(...scopes)
    const body = { limits: { status: 1 }, retentionDays: 30 }
    const { status, body: refusal } = await patch(one, body, { credential })
    expect([status, refusal]).toMatchObject([403, { code: 'forbidden' }])
    const { body: before } = await ask('GET /manage/settings', { by: one, credential })
    expect(before).toMatchObject({ retentionDays: null, overrides: {} })
    expect((await patch(one, body)).body).toMatchObject({ limits: { status: 1, events: 300 } })
    const statuses = [await one.ask('GET /snippet-status'), await one.ask('GET /snippet-status')]
    expect(statuses.map(({ status }) => status)).toEqual([200, 429])
    expect((await patch(one, { limits: { status: null } })).body).toMatchObject({ overrides: {} })
  })

  test.each([
    ['/limits/events', { limits: { events: 0 } }],
    ['/limits/nonsense', { limits: { nonsense: 5 } }],
    ['/origins/1', { origins: ['https://a.example', 'https://a.example/x'] }],
    ['/name', { name: 'two\nlines' }],
    ['/retentionDays', { retentionDays: 3_651 }],
    ['/timezone', { timezone: '+01:00' }],
    ['/theme/font/family', { theme: { font: { family: 'a; b' } } }],
    ['/theme/sparkle', { theme: { sparkle: 1 } }],
    ['/theme/dark/radius', { theme: { dark: { radius: 1 } } }],
  ])('%s of %p is refused, and nothing is set', async (path, body) => {
    const one = await Tenant.of(world)
    const { status, body: refusal } = await patch(one, { ...body, ...fine(body) })
    expect([status, refusal]).toMatchObject([422, { details: [{ path }] }])
    const { body: settings } = await ask('GET /manage/settings', { by: one, asOperator: true })
    expect(settings).toMatchObject({ overrides: {}, origins: [], retentionDays: null })
  })

  /** A setting that would be valid on its own. */
  const fine = (body: object) => ('origins' in body ? { retentionDays: 7 } : { origins: [] })
})

test('organisations are listed page by page, each once', async () => {
  const many = new World()
  try {
    many.database.run(`
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 1500)
      insert into organisations (public_id, slug, name, created_at)
      select 'org_' || i, 's' || i, 'Name', 1 from n`)
    const one = await Tenant.of(many)
    const first = await ask('GET /manage/organisations', { by: one, asOperator: true })
    const page = first.body as unknown as { organisations: { slug: string }[]; next: string }
    expect(page).toMatchObject({ total: 1_501, next: page.organisations.at(-1)!.slug })
    const after = `GET /manage/organisations?after=${page.next}`
    const { body: rest } = await ask(after, { by: one, asOperator: true })
    expect(rest).toMatchObject({ total: 1_501, next: null })
    const all = [page, rest as unknown as typeof page].flatMap(({ organisations }) =>
      organisations.map(({ slug }) => slug),
    )
    expect(all).toEqual([...new Set(all)].sort())
    expect(all).toHaveLength(1_501)
  } finally {
    await many.close()
  }
})

describe('what authors ask', () => {
  test('which published steps have lost their element, and the evidence for it', async () => {
    const { steps } = tenant.publish(tour({ key: 'checked' }))
    tenant.limit({ health: 1e6, fingerprint: 1e6 })
    const url = 'https://app.example/projects?token=secret'
    for (const userId of ['a', 'b', 'c', 'd', 'e']) {
      const body = { outcome: 'not_found', userId, url, message: 'not there' }
      await tenant.answer(`POST /steps/${steps[1]!.id}/health`, { body })
    }
    const fingerprint = { selector: '#search', matchCount: 1, tag: 'input' }
    for (const [seen, candidates] of [
      [fingerprint, []],
      [null, [{ ...fingerprint, selector: '#find' }]],
    ] as const) {
      const body = { fingerprint: seen, candidates }
      await tenant.answer(`POST /steps/${steps[1]!.id}/fingerprint`, { body })
    }
    const { status, body } = await ask('GET /manage/health?flow=checked')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ok: false,
      steps: [
        {
          ...{ flow: 'checked', step: 'search', selector: '#search', state: 'broken', okRate: 0 },
          people: { not_found: 5, found: 0 },
          pages: [{ page: 'https://app.example/projects', reports: 5, misses: 5 }],
          messages: [{ message: 'not there', reports: 5 }],
          fingerprints: { gone: 1, latest: { status: 'gone' } },
          suggestion: { selector: '#find', times: 1, of: 1 },
        },
      ],
    })
    const all = (await ask('GET /manage/health')).body as { steps: { flow: string }[] }
    expect(all.steps.map(({ flow }) => flow)).toContain('checked')
    expect((await ask('GET /manage/health?flow=nothing')).status).toBe(404)
    expect((await ask('GET /manage/health?flow=')).status).toBe(422)
  })

  test('how published steps fared in the last 30 days, day by day, as JSON and as CSV', async () => {
    const { steps } = tenant.publish(tour({ key: 'aged' }))
    tenant.limit({ health: 1e6 })
    const say = async (outcome: string, userId: string) => {
      const body = { outcome, userId }
      await tenant.answer(`POST /steps/${steps[1]!.id}/health`, { body })
    }
    world.clock.advance(dayMs - (world.clock.now() % dayMs) + 13 * hourMs)
    const first = new Date(world.clock.now()).toISOString().slice(0, 10)
    for (const userId of ['a', 'b', 'c', 'd', 'e', 'f']) await say('found', userId)
    world.clock.advance(2 * dayMs)
    for (const userId of ['a', 'b', 'c', 'd', 'e']) await say('not_found', userId)
    await say('found_by_alternate', 'f')
    const today = new Date(world.clock.now()).toISOString().slice(0, 10)
    type Check = { steps: { history?: object[] }[]; definitions: Record<string, string> }
    const path = 'GET /manage/health?flow=aged&history=1&timezone=UTC'
    const body: Check & { historyRange: object } = (await ask(path)).body
    const none = { found: 0, found_by_alternate: 0, changed: 0, ambiguous: 0, hidden: 0 }
    expect(body.steps[0]!.history).toEqual([
      {
        ...{ date: first, state: 'healthy', okRate: 1, versions: [1], complete: true },
        people: { ...none, found: 6, not_found: 0, error: 0 },
      },
      {
        ...{ date: today, state: 'broken', okRate: 0.1667, versions: [1], complete: false },
        people: { ...none, found_by_alternate: 1, not_found: 5, error: 0 },
      },
    ])
    expect(body.historyRange).toMatchObject({ to: today, timezone: 'UTC' })
    expect(body.definitions['history.state']).toBeDefined()
    // In Auckland it was the next day already.
    const far: Check = (await ask(path.replace('UTC', 'Pacific/Auckland'))).body
    expect(far.steps[0]!.history?.map(day => (day as { date: string }).date)).not.toContain(first)
    const bare: Check = (await ask('GET /manage/health?flow=aged')).body
    expect(bare).not.toHaveProperty('historyRange')

    const csv = await tenant.ask('GET /manage/flows/aged/health.csv?timezone=UTC', {
      credential: everything,
    })
    expect(csv.headers.get('content-disposition')).toMatch(/cairn-aged-health-.*\.csv"$/)
    const [header, ...rows] = (await csv.text()).trim().split('\r\n')
    expect(header).toStartWith('date,flow,step,step_id,state,ok_rate,people,finds,fallback,misses,')
    const of = (date: string, numbers: string) => `${date},aged,search,${steps[1]!.id},${numbers}`
    expect(rows).toEqual([
      of(first, 'healthy,1,6,6,0,0,6,0,0,0,0,0,0,1,true'),
      of(today, 'broken,0.1667,6,1,1,5,0,1,0,0,0,5,0,1,false'),
    ])
    for (const wrong of [
      'GET /manage/health?history=1',
      'GET /manage/health?flow=aged&history=yes',
      'GET /manage/health?flow=aged&history=1&timezone=Atlantis',
      'GET /manage/flows/aged/health.csv?timezone=%2B01:00',
    ]) {
      expect([wrong, (await ask(wrong)).status]).toEqual([wrong, 422])
    }
    expect((await ask('GET /manage/flows/nothing/health.csv')).status).toBe(404)
  })

  test('whether a person sees a flow on a page, and why; for a named person it needs people:read', async () => {
    const { id } = tenant.publish(tour({ key: 'explained', priority: 90 }))
    const events = [{ kind: 'flow_completed', userId: 'eve', flowId: id, runId: 'of-eve' }]
    await tenant.send(events)
    const requested = {
      flow: 'explained',
      url: 'https://app.example/projects',
      traits: { plan: 'x' },
    }
    const stranger = await ask('POST /manage/explain', { body: requested })
    expect([stranger.status, stranger.body]).toMatchObject([
      200,
      { shown: true, instead: null, person: { userId: null, history: { runs: 0 } } },
    ])
    const named = { ...requested, flow: id, userId: 'eve' }
    const { body } = await ask('POST /manage/explain', { body: named })
    expect(body).toMatchObject({
      shown: false,
      flow: { key: 'explained', status: 'published' },
      person: { userId: 'eve', history: { runs: 1, inProgress: false } },
    })
    const { rules } = body as { rules: { rule: string; holds: boolean | null }[] }
    const failed = rules.filter(({ holds }) => holds === false).map(({ rule }) => rule)
    expect(failed).toEqual(['frequency'])
    const credential = await tenant.managementToken('flows:read')
    expect((await ask('POST /manage/explain', { body: requested, credential })).status).toBe(200)
    const refused = await ask('POST /manage/explain', { body: named, credential })
    expect([refused.status, refused.body]).toMatchObject([403, { scope: 'people:read' }])
    for (const [status, wrong] of [
      [422, { url: '/projects' }],
      [422, { traits: [] }],
      [422, { userId: '' }],
      [404, { flow: 'nothing' }],
    ] as const) {
      const answer = await ask('POST /manage/explain', { body: { ...requested, ...wrong } })
      expect([wrong, answer.status]).toEqual([wrong, status])
    }
  })
})

describe('the audit log', () => {
  test('has a line for each change, with who, what, before, after and why; and none for what changed nothing', async () => {
    const one = await Tenant.of(world)
    const credential = await one.managementToken(...scopes)
    const by = { by: one, credential }
    await ask('POST /manage/push', { ...by, body: { flows: [tour({ key: 'a' })] } })
    await ask('POST /manage/push', { ...by, body: { flows: [tour({ key: 'a' })] } })
    const note = { note: 'For spring' }
    await ask('POST /manage/flows/a/publish', {
      ...by,
      body: note,
      headers: { 'if-match': '*' },
    })
    const { body } = await ask('GET /manage/audit?subject=a', by)
    expect(body).toMatchObject({
      lines: [
        {
          action: 'flow.publish',
          via: 'token',
          actor: expect.stringMatching(/^Test \(token_/),
          before: { status: 'draft', version: null, hasDraft: true },
          after: { status: 'published', version: 1, hasDraft: false },
          ...note,
        },
        { action: 'flow.push', before: null, after: { status: 'draft', hasDraft: true } },
      ],
      next: null,
    })
  })
})
