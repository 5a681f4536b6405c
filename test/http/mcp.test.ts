import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Scope } from '../../src/core/organisation/access.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** The tools of an assistant, by the protocol's own client. */

let world: World
let tenant: Tenant
const open: Client[] = []

beforeEach(async () => {
  world = new World()
  tenant = await Tenant.of(world)
})

afterEach(async () => {
  await Promise.all(open.splice(0).map(client => client.close()))
  await world.close()
})

const post = (headers: Record<string, string>, body: unknown, app = world.app) =>
  app.handle(
    new Request('http://cairn.example.com/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    }),
  )

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

async function assistant(token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL('http://cairn.example.com/mcp'), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: async (url, init) => world.app.handle(new Request(`${url}`, init)),
  })
  await client.connect(transport)
  open.push(client)
  return client
}

const withScopes = async (...scopes: Scope[]) => assistant(await tenant.managementToken(...scopes))

interface Called {
  isError: boolean
  texts: string[]
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at it says what it is
  json: any
}

async function call(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
): Promise<Called> {
  const result = await client.callTool({ name, arguments: given })
  const texts = (result.content as { text: string }[]).map(({ text }) => text)
  const isError = result.isError === true
  return { isError, texts, json: isError ? null : attemptJson(texts.at(-1) ?? '') }
}

const attemptJson = (text: string) => (/^[{[]/.test(text) ? JSON.parse(text) : null)

const tour = {
  key: 'export-hint',
  name: 'Export hint',
  targeting: { urls: [{ match: 'glob', pattern: '**/reports' }] },
  steps: [
    {
      key: 'menu',
      title: 'Export your report',
      body: 'Click **Export**.',
      target: { selector: '[data-tour=export]' },
    },
  ],
}

const author = ['flows:read', 'flows:write', 'flows:publish', 'analytics:read'] as const

describe('an assistant', () => {
  test('goes from an empty organisation to a published flow and its results', async () => {
    const client = await withScopes(...author)
    expect((await call(client, 'list_flows')).json.flows).toEqual([])
    expect((await call(client, 'validate_flow', { text: JSON.stringify(tour) })).json.valid).toBe(
      true,
    )
    const saved = await call(client, 'save_draft', { key: tour.key, flow: tour })
    expect(saved.json).toMatchObject({ key: tour.key, status: 'draft', hasDraft: true })
    const url = 'https://app.example.com/reports'
    const preview = await call(client, 'preview_flow', { flow: tour.key, url })
    expect(preview.json.link).toStartWith(`${url}#cairn-preview=`)
    const { etag } = (await call(client, 'get_flow', { key: tour.key })).json
    const published = await call(client, 'publish_flow', { key: tour.key, etag, note: 'Asked for' })
    expect(published.json.flows).toMatchObject([{ key: tour.key, version: 1, status: 'published' }])
    const results = await call(client, 'get_results', { key: tour.key })
    expect(results.texts[0]).toContain('0 runs started')
    expect(results.json.definitions.starts).toBeString()
    const audit = await tenant.answer('GET /manage/audit', { asOperator: true })
    expect(audit.body.lines).toContainEqual(
      expect.objectContaining({ action: 'flow.publish', via: 'token', note: 'Asked for' }),
    )
  })

  test('has the guide as a resource and as a tool', async () => {
    const client = await withScopes('flows:read')
    const [resource] = (await client.listResources()).resources
    const read = await client.readResource({ uri: resource!.uri })
    const guide = await call(client, 'read_guide')
    expect(guide.texts).toEqual([(read.contents[0] as { text: string }).text])
    expect(guide.texts[0]).toContain('validate_flow')
  })

  test('is offered the tools that its token allows', async () => {
    const names = async (...scopes: Scope[]) =>
      (await (await withScopes(...scopes)).listTools()).tools.map(({ name }) => name)
    const viewer = await names('flows:read', 'analytics:read')
    expect(viewer).toContain('get_results')
    for (const name of ['save_draft', 'publish_flow', 'list_answers']) {
      expect(viewer).not.toContain(name)
    }
    expect(await names(...author)).toContain('publish_flow')
  })

  test('with a token that allows less learns which scope it lacks, and nothing changes', async () => {
    const client = await withScopes('flows:read')
    for (const [name, given, scope] of [
      ['save_draft', { key: tour.key, flow: tour }, 'flows:write'],
      ['publish_flow', { key: tour.key, etag: '"a"' }, 'flows:publish'],
      ['get_results', { key: tour.key }, 'analytics:read'],
      ['list_answers', { key: tour.key, step: 'menu' }, 'people:read'],
    ] as const) {
      const { isError, texts } = await call(client, name, given)
      expect([name, isError]).toEqual([name, true])
      expect(texts[0]).toContain(scope)
    }
    expect((await call(client, 'list_flows')).json.flows).toEqual([])
  })

  test('cannot overwrite or publish what it has not read', async () => {
    const client = await withScopes(...author)
    const { etag } = (await call(client, 'save_draft', { key: tour.key, flow: tour })).json
    const renamed = { ...tour, name: 'Export' }
    const again = await call(client, 'save_draft', { key: tour.key, flow: renamed })
    expect([again.isError, again.texts[0]]).toEqual([true, expect.stringContaining('get_flow')])
    for (const every of ['*', '"a", "b"', '']) {
      const { isError } = await call(client, 'publish_flow', { key: tour.key, etag: every })
      expect([every, isError]).toEqual([every, true])
    }
    await call(client, 'save_draft', { key: tour.key, flow: renamed, etag })
    const late = await call(client, 'publish_flow', { key: tour.key, etag })
    expect([late.isError, late.texts[0]]).toEqual([true, expect.stringContaining('has changed')])
    expect((await call(client, 'publish_flow', { key: tour.key })).texts[0]).toContain('etag')
  })

  test('reads in each error what is wrong, where, and how to go on', async () => {
    const client = await withScopes(...author, 'people:read')
    const { tools } = await client.listTools()
    for (const { name } of tools) {
      const { isError, texts } = await call(client, name, { unheardOf: 1 })
      if (name !== 'read_guide')
        expect([name, isError, texts[0]]).toEqual([
          name,
          true,
          expect.stringContaining('unheardOf'),
        ])
    }
    const wrong = await call(client, 'save_draft', {
      key: 'x',
      flow: { key: 'x', steps: [{ key: 1 }] },
    })
    expect(wrong.texts[0]).toContain('/steps/0')
    expect((await call(client, 'get_flow', { key: 'nowhere' })).texts[0]).toContain('list_flows')
    expect((await call(client, 'get_flow', { key: '../tokens' })).isError).toBe(true)
    expect((await call(client, 'no_such_tool')).isError).toBe(true)
  })

  test('of another organisation sees nothing of this one', async () => {
    const mine = await withScopes(...author)
    await call(mine, 'save_draft', { key: tour.key, flow: tour })
    const other = await Tenant.of(world)
    const theirs = await assistant(await other.managementToken(...author))
    expect((await call(theirs, 'list_flows')).json.flows).toEqual([])
    expect((await call(theirs, 'get_flow', { key: tour.key })).isError).toBe(true)
  })
})

describe('the address of assistants', () => {
  test('takes management tokens, and neither keys, session tokens nor nothing', async () => {
    for (const credential of [tenant.key, tenant.token, 'crn_wrong', null]) {
      const headers: Record<string, string> =
        credential === null ? {} : { authorization: `Bearer ${credential}` }
      expect((await post(headers, list)).status).toBe(401)
    }
  })

  test('rejects pages of other origins', async () => {
    const authorization = `Bearer ${await tenant.managementToken('flows:read')}`
    const from = (origin: string) => post({ authorization, origin }, list)
    expect((await from('https://evil.example')).status).toBe(403)
    expect((await from('http://cairn.example.com')).status).toBe(200)
  })

  test('takes POST alone, and bodies up to a bound', async () => {
    const authorization = `Bearer ${await tenant.managementToken('flows:read')}`
    const get = new Request('http://cairn.example.com/mcp', { headers: { authorization } })
    expect((await world.app.handle(get)).status).toBe(405)
    const large = { ...list, params: { text: 'x'.repeat(300_000) } }
    expect((await post({ authorization }, large)).status).toBe(413)
  })

  test('counts against the limit of the management API', async () => {
    const client = await withScopes('flows:read')
    tenant.limit({ manage: 3 })
    const calls = [await call(client, 'list_flows'), await call(client, 'list_flows').catch(String)]
    expect(JSON.stringify(calls)).toMatch(/Wait \d+ seconds|429|Rate limit/)
  })
})
