import type { Role } from '../../src/core/organisation/access.ts'
import type { Tenant } from './tenant.ts'

const base = 'http://cairn.test'

/** What a browser adds to a request of one of Cairn's own pages. */
export const ownPage = {
  'sec-fetch-site': 'same-origin',
  'cairn-dashboard': '1',
  'content-type': 'application/json',
}

/** Somebody in front of the dashboard, whose browser keeps cookies and whose page keeps a token. */
export class Visitor {
  cookie: string | null = null
  token: string | null = null

  constructor(private readonly tenant: Tenant) {}

  /** Somebody who has signed in with a link. */
  static async of(tenant: Tenant, role: Role = 'viewer', name?: string): Promise<Visitor> {
    const visitor = new Visitor(tenant)
    const { status } = await visitor.redeem({ code: await linkCode(tenant, role, name) })
    if (status !== 200) throw new Error(`The link was answered ${status}`)
    await visitor.refresh()
    return visitor
  }

  async fetch(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const response = await this.tenant.world.app.handle(
      new Request(`${base}${path}`, {
        method,
        headers: { ...(this.cookie !== null && { cookie: this.cookie }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const [set] = response.headers.getSetCookie()
    if (set) this.cookie = /Max-Age=0/.test(set) ? null : set.split(';')[0]!
    return response
  }

  /** Asks as one of Cairn's own pages does. */
  async ask(action: string, body: unknown = {}, headers: Record<string, string> = {}) {
    const path = `/dashboard/session/${action}`
    const response = await this.fetch('POST', path, { body, headers: { ...ownPage, ...headers } })
    return {
      status: response.status,
      body: (await response.json()) as never,
      headers: response.headers,
    }
  }

  redeem(body: { code: string } | { token: string }, headers: Record<string, string> = {}) {
    return this.ask('redeem', body, headers)
  }

  /** Makes the page fetch another token. */
  async refresh(): Promise<void> {
    const { body, status } = await this.ask('token')
    if (status !== 200) throw new Error(`No token: ${status}`)
    this.token = (body as { token: string }).token
  }

  /** Asks the API as the page does. */
  api(what: string, headers: Record<string, string | undefined> = {}, body?: unknown) {
    const [method = '', path = ''] = what.split(' ')
    const sent = {
      authorization: `Bearer ${this.token}`,
      'sec-fetch-site': 'same-origin',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    }
    const given = Object.entries(sent).filter(([, value]) => value !== undefined)
    return this.fetch(method, `/api/v1${path}`, {
      headers: Object.fromEntries(given) as Record<string, string>,
      ...(body !== undefined && { body }),
    })
  }
}

/** The code of a new link, as the operator gets it. */
export async function linkCode(tenant: Tenant, role: Role, name?: string): Promise<string> {
  const { status, body } = await tenant.answer('POST /manage/dashboard/links', {
    asOperator: true,
    body: { role, ...(name !== undefined && { name }) },
  })
  if (status !== 201) throw new Error(`No link: ${status} ${JSON.stringify(body)}`)
  return (body as { code: string }).code
}
