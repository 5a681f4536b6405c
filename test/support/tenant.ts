import { readFlowFile } from '../../src/core/flow/file.ts'
import type { Scope } from '../../src/core/organisation/access.ts'
import { auditor } from '../../src/core/organisation/audit.ts'
import type { OrganisationRef } from '../../src/core/reference.ts'
import { createToken } from '../../src/modules/access/service.ts'
import type { Settings } from '../../src/storage/interfaces/organisations.ts'
import { refOf } from '../../src/storage/shared/in-rows.ts'
import { publishFlows, pushFlows, withdrawFlows } from './authoring.ts'
import { createOrganisation, setLimits, setSettings } from './organisations.ts'
import type { World } from './world.ts'

const api = '/api/v1'
/** Long, because tests move the clock by days. */
const tokenSeconds = 365 * 86_400

export interface Asked {
  body?: unknown
  headers?: Record<string, string>
  /** A credential other than the tenant's own; null for none. */
  credential?: string | null
  /** Asks at the operator's door, where no credential is needed and the tenant's organisation is named. */
  asOperator?: boolean
}

/** The parts of a published flow that tests name. */
export interface PublishedFlow {
  id: string
  key: string
  version: number
  publishedAt: string
  steps: { id: string; key: string }[]
  checklist: { items: { id: string; key: string }[] } | null
}

let made = 0

/** One organisation of a test world, and requests in its name. */
export class Tenant {
  private constructor(
    readonly world: World,
    readonly organisation: Settings & { row: number },
    /** The first snippet key. */
    readonly key: string,
    /** A session token that outlives the test. */
    readonly token: string,
  ) {}

  static async of(world: World): Promise<Tenant> {
    const name = `Tenant ${++made}`
    const { organisation, snippetKey } = createOrganisation(
      world.database,
      { name },
      world.clock.now(),
    )
    world.takeUp()
    const { token } = await world.tokens.issue(organisation.id, tokenSeconds)
    return new Tenant(world, organisation, snippetKey, token)
  }

  get ref(): OrganisationRef {
    return refOf(this.row)
  }

  get row(): number {
    return this.organisation.row
  }

  limit(limits: Parameters<typeof setLimits>[2]): void {
    setLimits(this.world.database, this.row, limits)
    this.world.takeUp()
  }

  allowOrigins(...origins: string[]): void {
    setSettings(this.world.database, this.row, { origins })
    this.world.takeUp()
  }

  listTraits(...traits: string[]): void {
    setSettings(this.world.database, this.row, { traits })
    this.world.takeUp()
  }

  /** Pushes flows as drafts. Each is written as in a flow file, so defaults can be left out. */
  push(...flows: Record<string, unknown>[]): void {
    for (const flow of flows) {
      const { flows: read, problems } = readFlowFile(JSON.stringify(flow), { format: 'json' })
      const errors = problems.filter(({ severity }) => severity === 'error')
      if (errors.length > 0) throw new Error(JSON.stringify(errors))
      pushFlows(this.world.database, this.row, read, this.world.clock.now())
    }
    this.world.takeUp()
  }

  /** Pushes and publishes one flow, and returns it as callers get it. */
  publish(flow: Record<string, unknown>): PublishedFlow {
    this.push(flow)
    const key = flow.key as string
    publishFlows(this.world.database, this.row, [key], this.world.clock.now)
    this.world.takeUp()
    return this.published(key)
  }

  publishAgain(...keys: string[]): void {
    publishFlows(this.world.database, this.row, keys, this.world.clock.now)
    this.world.takeUp()
  }

  withdraw(key: string, status: 'draft' | 'archived'): void {
    withdrawFlows(this.world.database, this.row, [key], status, this.world.clock.now())
    this.world.takeUp()
  }

  private published(key: string): PublishedFlow {
    const catalogue = this.world.stores.catalogue()
    const organisation = catalogue.organisationByName(this.organisation.id)
    if (!organisation) throw new Error('The organisation is gone')
    const { flows } = JSON.parse(catalogue.publishedFlows(organisation).text)
    return flows.find((flow: PublishedFlow) => flow.key === key)
  }

  /** The id of a draft or any other flow. */
  flowId(key: string): string {
    return this.world.database
      .query<{ public_id: string }, [number, string]>(
        'select public_id from flows where org_id = ? and key = ?',
      )
      .get(this.row, key)?.public_id as string
  }

  /** A new management token. */
  async managementToken(...scopes: Scope[]): Promise<string> {
    const requested = { name: 'Test', scopes: [...scopes], expiresInDays: 365 }
    const actor = { via: 'command line', name: 'test', requestId: null } as const
    const audit = auditor(actor, this.world.clock.now())
    const { access } = this.world.management
    return (await createToken(access, this.ref, requested, scopes, audit)).token
  }

  /**
   * One request through the app, with the tenant's credential for the route.
   *
   * @param what a method and a path below `/api/v1`, such as `GET /flows`
   */
  ask(
    what: string,
    { body, headers = {}, credential, asOperator = false }: Asked = {},
  ): Promise<Response> {
    const [method = '', path = ''] = what.split(' ')
    const own = path.includes('/analytics') ? this.token : this.key
    const sent = asOperator ? null : credential === undefined ? own : credential
    const request = new Request(`http://cairn.test${api}${path}`, {
      method,
      headers: {
        ...(sent === null ? {} : { authorization: `Bearer ${sent}` }),
        ...(asOperator ? { 'cairn-organisation': this.organisation.id } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return (asOperator ? this.world.operatorsDoor : this.world.app).handle(request)
  }

  /** The same as `ask`, with the status and the JSON of the answer. */
  async answer(what: string, asked: Asked = {}) {
    const response = await this.ask(what, asked)
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }

  /** Sends events as they are, and returns the status and the JSON of the answer. */
  send(events: Record<string, unknown>[], envelope: Record<string, unknown> = {}) {
    const body = { ...envelope, events }
    return this.answer('POST /events', { body })
  }
}
