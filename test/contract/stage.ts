import { Database } from 'bun:sqlite'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../../scripts/support/cluster.ts'
import { managementTokenHash, newManagementToken } from '../../src/core/organisation/access.ts'
import { socketFile } from '../../src/runtime/lock.ts'
import { asForUsers, type Server, type Workplace } from '../support/binary.ts'
import { providerSecret, tokensOfAcme, tokensOfProvider } from './tokens.ts'

/** The organisations that the rows refer to, made by the command line, and the servers they are on. */

interface Part {
  slug: string
  /** Goes in front of the names of its things, as in `{their tour}`. Acme's have no prefix. */
  prefix: string
  /** Requests a minute in each bucket, where not the default. */
  limit?: number
  origins?: readonly string[]
  /** The traits that it counts runs by. */
  traits?: readonly string[]
  /** Whether it verifies identities. If it does, it has two secrets. */
  identity?: 'observe' | 'enforce'
  /** It has no flow and no token of its own. */
  isBare?: boolean
  /** Acme's flows are tried in it. */
  isStaging?: boolean
  /** It has as many flows as it may. */
  isFull?: boolean
}

export const plenty = 1_000_000
const origins = ['https://app.example', 'chrome-extension://abcdefgh']

const acme: Part = { slug: 'acme', prefix: '', limit: plenty }
const others: readonly Part[] = [
  { slug: 'globex', prefix: 'their ' },
  { slug: 'listed', prefix: 'listed ', limit: plenty, origins, traits: ['plan', 'size'] },
  { slug: 'small', prefix: 'small ', limit: 1, origins },
  { slug: 'plain', prefix: 'plain ' },
  { slug: 'fresh', prefix: 'fresh ', isBare: true },
  { slug: 'misled', prefix: 'misled ', origins, isBare: true },
  { slug: 'watched', prefix: 'watched ', limit: plenty, identity: 'observe', isStaging: true },
  { slug: 'strict', prefix: 'strict ', limit: plenty, identity: 'enforce' },
  { slug: 'full', prefix: 'full ', limit: plenty, isFull: true },
]
const narrow: Part = { slug: 'narrow', prefix: 'narrow ', limit: plenty }

const settings = { CAIRN_DATA: './data', ...asForUsers }

/** A mail server that takes nothing. Commands before the start have none. */
const mailSettings = {
  CAIRN_SMTP_URL: 'smtp://127.0.0.1:1',
  CAIRN_MAIL_FROM: 'cairn@example.com',
  CAIRN_PUBLIC_URL: 'https://cairn.example.com',
}

/** A server with little room for events, and tokens of an identity provider. */
const narrowSettings = {
  CAIRN_DATA: './narrow',
  CAIRN_ACK: 'buffer',
  CAIRN_BUFFER_EVENTS: '100',
  CAIRN_SESSION_SECRET: providerSecret,
  CAIRN_SESSION_ISSUER: 'https://id.example',
  CAIRN_SESSION_AUDIENCE: 'cairn-api',
  CAIRN_ORGANISATION_CLAIM: 'tenant',
}

/**
 * Its first write fails, and its disk hangs: what is in the buffer stays there, however long the rows take.
 */
const narrowTroubles = { CAIRN_FAILPOINTS: 'http_request=error*1,before_sync=stall' }

/** What answers: a server, or several nodes behind a balancer. */
export type Answering = Pick<Server, 'url'>

/** The caller that a valid credential stands for. */
export interface Holder {
  /** Requests a minute in each bucket; null for the defaults. */
  limit: number | null
  server: Answering
  /** The operator is not counted. */
  isUncounted?: true
}

export interface Stage {
  server: Answering
  /** The socket that lets its operator in. */
  socket: string
  /** What the names that rows write in braces stand for. */
  names: ReadonlyMap<string, string>
  /** By snippet key or token. */
  holders: ReadonlyMap<string, Holder>
}

const things: [name: string, text: string][] = [
  ['event', '{kind: custom, name: clicked, userId: somebody}'],
  ['tick', '{key: photo, completed: true}'],
  ['flow', '{key: pushed, steps: [{key: a, title: A}]}'],
  ['word', 'word'],
  ['one', '1'],
  ['print', '{matchCount: 1}'],
  ['wrong', 'wrong'],
  ['bom', '\uFEFF'],
  ['unknown key', 'Unknown0Unknown0Unknown0Unknown0'],
]

const buckets = 'events flows fingerprint health heartbeat status analytics export manage'.split(
  ' ',
)

const scopes = [
  'flows:read',
  'flows:write',
  'flows:publish',
  'analytics:read',
  'people:read',
  'people:erase',
  'settings:write',
]

/** As many flows as an organisation may have, and one in the archive. */
const maxFlows = 1_000

const flowFile = (name: string) => join(import.meta.dir, 'flows', name)

/** The command line, in the name of one organisation. */
class Operator {
  constructor(
    private readonly place: Workplace,
    private readonly part: Part,
    private readonly env: Record<string, string>,
  ) {}

  private async run<T>(...args: string[]): Promise<T> {
    const { status, stdout, stderr } = await this.place.run([...args, '--json'], this.env)
    if (status !== 0) throw new Error(`cairn ${args.join(' ')} failed: ${stderr}`)
    return JSON.parse(stdout)
  }

  create() {
    return this.run<{ id: string; snippetKey: string }>('org', 'create', this.part.slug)
  }

  async configure(): Promise<void> {
    const { slug, limit, origins, traits } = this.part
    const limits = limit && Object.fromEntries(buckets.map(name => [name, limit]))
    const settings = JSON.stringify({ limits: limits || undefined, origins, traits })
    await this.run('api', 'PATCH', '/settings', '--body', settings, '--org', slug)
  }

  /** The secret before the rotation, which goes on working, and the current one. */
  async verifyIdentities(): Promise<{ old: string; current: string } | null> {
    const { slug, identity } = this.part
    if (!identity) return null
    const org = ['--org', slug]
    await this.run('org', 'set', 'identityMode', identity, ...org)
    const { secrets } = await this.run<{ secrets: { secret: string }[] }>(
      ...['org', 'identity', 'show', '--secrets', ...org],
    )
    const rotate = ['org', 'identity', 'rotate', ...org]
    const { secret: current } = await this.run<{ secret: string }>(...rotate)
    return { old: secrets[0]!.secret, current }
  }

  erase(person: string, ...words: string[]): Promise<unknown> {
    return this.run('person', 'erase', person, '--org', this.part.slug, '--yes', ...words)
  }

  /** Makes another organisation the one in which flows are tried. */
  link(staging: Part): Promise<unknown> {
    return this.run('org', 'link', staging.slug, '--org', this.part.slug)
  }

  flows(verb: string, ...words: string[]): Promise<unknown> {
    return this.run('flows', verb, ...words, '--org', this.part.slug)
  }

  async rotate(...flags: string[]): Promise<string> {
    const rotate = ['key', 'rotate', '--org', this.part.slug, ...flags]
    return (await this.run<{ snippetKey: string }>(...rotate)).snippetKey
  }

  async token(): Promise<string> {
    return (await this.run<{ token: string }>('token', 'issue', '--org', this.part.slug)).token
  }

  /** A management token. */
  manager(...scopes: string[]): Promise<{ id: string; token: string }> {
    return this.run('token', 'create', 'CI', '--scope', ...scopes, '--org', this.part.slug)
  }

  /** Adds an address that is not asked to confirm, because there is no mail server yet. */
  mailReportsTo(address: string): Promise<unknown> {
    return this.run('alerts', 'set', 'report.mails', address, '--org', this.part.slug)
  }

  revoke(id: string): Promise<unknown> {
    return this.place.run(['token', 'revoke', id, '--org', this.part.slug], this.env)
  }

  /** Makes as many flows as there may be, after one that goes into the archive. */
  async fill(): Promise<void> {
    const file = join(this.place.folder, 'full.yaml')
    const flow = (key: string) => `key: ${key}\nsteps: [{ key: only, title: Only }]\n`
    await Bun.write(file, flow('archived'))
    await this.flows('push', file)
    await this.flows('publish', 'archived')
    await this.flows('archive', 'archived')
    const keys = Array.from({ length: maxFlows }, (_, i) => `flow-${i}`)
    await Bun.write(file, keys.map(flow).join('---\n'))
    await this.flows('push', file)
  }
}

type Credentials = Record<string, string>

/** Management tokens of Acme. Each one differs from the first in one thing. */
async function managersOf(operator: Operator): Promise<Credentials> {
  const made = async (...given: string[]) => (await operator.manager(...given)).token
  const revoked = await operator.manager(...scopes)
  await operator.revoke(revoked.id)
  const manager = await made(...scopes)
  return {
    manager,
    'mistyped manager': `${manager.slice(0, -1)}${manager.endsWith('A') ? 'B' : 'A'}`,
    'unknown manager': newManagementToken(),
    'revoked manager': revoked.token,
    'expired manager': await made(...scopes),
    reader: await made('flows:read'),
    writer: await made('flows:write'),
    owner: await made('settings:write'),
  }
}

/** Makes a token expire. */
function expire(dataDir: string, token: string): void {
  using database = new Database(join(dataDir, 'cairn.db'))
  const { changes } = database.run('update management_tokens set expires_at = ? where sha256 = ?', [
    Date.now(),
    managementTokenHash(token),
  ])
  if (changes !== 1) throw new Error('There is no such token to expire')
}

const annsHash = (secret: string) => createHmac('sha256', secret).update('ann').digest('hex')

async function playAcme(operator: Operator, firstKey: string): Promise<Credentials> {
  await operator.configure()
  await operator.flows('push', flowFile('acme.yaml'))
  const published = ['tour', 'checklist', 'news', 'centre', 'twice', 'funnel', 'empty', 'times']
  await operator.flows('publish', ...published, 'unpublished', 'archived')
  await operator.flows('unpublish', 'unpublished')
  await operator.flows('archive', 'archived')
  await operator.flows('push', flowFile('twice.yaml'))
  await operator.flows('publish', 'twice')
  await operator.mailReportsTo('ann@example.com')
  await operator.erase('gone-user')
  await operator.erase('gone-browser', '--anonymous')
  const secondKey = await operator.rotate('--now')
  return {
    ...(await managersOf(operator)),
    key: await operator.rotate(),
    'old key': secondKey,
    'retired key': firstKey,
    token: await operator.token(),
  }
}

async function playOther(operator: Operator, key: string, part: Part): Promise<Credentials> {
  await operator.configure()
  const secrets = await operator.verifyIdentities()
  const hashes = secrets && {
    hash: annsHash(secrets.current),
    'old hash': annsHash(secrets.old),
    'upper hash': annsHash(secrets.current).toUpperCase(),
  }
  if (part.isBare) return { key }
  const { token: manager } = await operator.manager(...scopes)
  if (part.isFull) {
    await operator.fill()
    return { key, manager }
  }
  await operator.flows('push', flowFile('others.yaml'))
  await operator.flows('publish', 'tour')
  if (part.isStaging) {
    await operator.flows('push', flowFile('staged.yaml'))
    await operator.flows('publish', 'tried', 'guarded')
  }
  return { key, token: await operator.token(), manager, ...hashes }
}

/** The ids of an organisation's flows, steps and items, drafts too: `tour`, `tour/hello`. */
function idsOf(dataDir: string, slug: string): [name: string, id: string][] {
  const database = new Database(join(dataDir, 'cairn.db'), { readonly: true })
  const rows = database
    .query<{ name: string; id: string }, [string]>(
      `with own as (
        select flows.* from flows join organisations on organisations.id = org_id where slug = ?
      )
      select key as name, public_id as id from own
      union all select own.key || '/' || steps.key, steps.public_id
      from steps join own on own.id = flow_id
      union all select own.key || '/' || items.key, items.public_id
      from items join own on own.id = flow_id`,
    )
    .all(slug)
  database.close()
  return rows.map(({ name, id }) => [name, id])
}

type Served = Pick<Stage, 'server' | 'socket'>

/** One server over a data directory. */
async function alone(place: Workplace, dataDir: string): Promise<Served> {
  return {
    server: await place.serve([], { ...settings, ...mailSettings }),
    socket: socketFile(dataDir),
  }
}

/**
 * Three nodes behind HAProxy, which asks each in turn, over a database into which a data directory is moved.
 * One of the nodes lets the operator in.
 */
export const onCluster =
  (cluster: Cluster) =>
  async (_place: Workplace, dataDir: string): Promise<Served> => {
    await cluster.succeeded(['move', '--data', dataDir])
    // Otherwise a busy machine might take the limits server for away, which would divide the limits.
    await cluster.serve(3, {
      ...{ ...asForUsers, ...mailSettings },
      CAIRN_LIMITS_PATIENCE_MS: '5000',
    })
    return { server: cluster, socket: socketFile(cluster.nodes[0]!.dataDir) }
  }

/**
 * Prepares everything in a workplace, and starts the servers. Closing the workplace ends all of it.
 *
 * @param serve starts what serves a data directory
 */
export async function setStage(place: Workplace, serve = alone): Promise<Stage> {
  const operatorOf = (part: Part) =>
    new Operator(place, part, part === narrow ? narrowSettings : settings)
  const begin = async (part: Part) => {
    const operator = operatorOf(part)
    const { id, snippetKey } = await operator.create()
    return { id, credentials: await playOther(operator, snippetKey, part) }
  }

  // The first command makes the database. After that the commands only have to take turns.
  const { id: acmeId, snippetKey } = await operatorOf(acme).create()
  const [acmes, narrows, ...rest] = await Promise.all([
    playAcme(operatorOf(acme), snippetKey),
    begin(narrow),
    ...others.map(begin),
  ])
  await operatorOf(acme).link(others.find(({ isStaging }) => isStaging)!)
  const dataDir = join(place.folder, 'data')
  expire(dataDir, acmes['expired manager']!)
  const [{ server, socket }, narrowServer] = await Promise.all([
    serve(place, dataDir),
    place.serve([], { ...narrowSettings, ...narrowTroubles }),
  ])

  const ownSecret = readFileSync(join(dataDir, 'session.key'), 'utf8').trim()
  const ofAcme = { ...acmes, ...(await tokensOfAcme(Buffer.from(ownSecret, 'hex'), acmeId)) }
  const ofNarrow = { ...narrows.credentials, ...(await tokensOfProvider(narrows.id)) }

  const names = new Map(things)
  const holders = new Map<string, Holder>()
  const introduce = (
    part: Part,
    credentials: Credentials,
    on: Answering,
    ids: [string, string][],
  ) => {
    for (const [name, credential] of Object.entries(credentials)) {
      names.set(part.prefix + name, credential)
      holders.set(credential, { limit: part.limit ?? null, server: on })
    }
    for (const [name, id] of ids) names.set(part.prefix + name, id)
  }
  introduce(acme, ofAcme, server, idsOf(dataDir, acme.slug))
  for (const [i, part] of others.entries()) {
    introduce(part, rest[i]?.credentials ?? {}, server, idsOf(dataDir, part.slug))
  }
  introduce(narrow, ofNarrow, narrowServer, idsOf(join(place.folder, 'narrow'), narrow.slug))
  return { server, socket, names, holders }
}
