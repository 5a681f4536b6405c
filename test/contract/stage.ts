import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { type Server, Workplace } from '../support/binary.ts'

/** The organisations that the rows speak of, made by the command line, and the servers they are on. */

interface Part {
  slug: string
  /** In front of the names of what it owns: `{their tour}`; Acme's own have nothing. */
  prefix: string
  /** Requests a minute in each bucket, where not the default. */
  limit?: number
  origins?: readonly string[]
}

const plenty = 1_000_000
const origins = ['https://app.example', 'chrome-extension://abcdefgh']

const parts: readonly Part[] = [
  { slug: 'acme', prefix: '', limit: plenty },
  { slug: 'globex', prefix: 'their ' },
  { slug: 'listed', prefix: 'listed ', limit: plenty, origins },
  { slug: 'small', prefix: 'small ', limit: 1, origins },
  { slug: 'plain', prefix: 'plain ' },
  { slug: 'fresh', prefix: 'fresh ' },
  { slug: 'misled', prefix: 'misled ', origins },
]

/** On a server of its own, with little room for events and tokens of an identity provider. */
const otherServer: Part = { slug: 'narrow', prefix: 'narrow ', limit: plenty }
const providerSecret = 'a secret of at least thirty-two bytes, shared with the provider'
const otherSettings = {
  CAIRN_DATA: './narrow',
  CAIRN_ACK: 'buffer',
  CAIRN_BUFFER_EVENTS: '100',
  CAIRN_FLUSH_EVERY_MS: '10000',
  CAIRN_FAILPOINTS: 'before_commit=error',
  CAIRN_SESSION_SECRET: providerSecret,
  CAIRN_SESSION_ISSUER: 'https://id.example',
  CAIRN_SESSION_AUDIENCE: 'cairn-api',
  CAIRN_ORGANISATION_CLAIM: 'tenant',
}

/** What a credential stands for. */
export interface Holder {
  /** Requests a minute in each bucket; null for the defaults. */
  limit: number | null
  server: Server
}

export interface Stage {
  place: Workplace
  server: Server
  names: ReadonlyMap<string, string>
  /** By snippet key or token, where it is a good one. */
  holders: ReadonlyMap<string, Holder>
}

const buckets = 'events flows fingerprint health heartbeat status analytics export'.split(' ')

const flowFile = (name: string) => join(import.meta.dir, 'flows', name)

/** One organisation with all that it has; its snippet key, and Acme's two older ones. */
async function play(place: Workplace, part: Part, env: Record<string, string>) {
  const { slug } = part
  const cairn = <T>(...args: string[]) => place.json<T>(args, env)
  const flows = (verb: string, ...words: string[]) => cairn('flows', verb, ...words, '--org', slug)
  const made = await cairn<{ id: string; snippetKey: string }>('org', 'create', slug)
  if (part.limit) {
    await cairn('org', 'limits', slug, ...buckets.flatMap(name => [`--${name}`, `${part.limit}`]))
  }
  if (part.origins) await cairn('org', 'origins', slug, ...part.origins)
  const keys = { key: made.snippetKey }
  if (slug === 'fresh' || slug === 'misled') return { id: made.id, keys }
  if (slug !== 'acme') {
    await flows('push', flowFile('others.yaml'))
    await flows('publish', 'tour')
    return { id: made.id, keys }
  }
  await flows('push', flowFile('acme.yaml'))
  const published = ['tour', 'checklist', 'news', 'twice', 'funnel', 'empty', 'times']
  await flows('publish', ...published, 'unpublished', 'archived')
  await flows('unpublish', 'unpublished')
  await flows('archive', 'archived')
  await flows('push', flowFile('twice.yaml'))
  await flows('publish', 'twice')
  type Rotated = { snippetKey: string }
  const second = await cairn<Rotated>('key', 'rotate', '--org', slug, '--now')
  const third = await cairn<Rotated>('key', 'rotate', '--org', slug)
  const { snippetKey: retired } = made
  return {
    id: made.id,
    keys: { key: third.snippetKey, 'old key': second.snippetKey, 'retired key': retired },
  }
}

/** The ids of an organisation's flows, steps and items, drafts too: `tour`, `tour/hello`. */
function idsOf(dataDir: string, slug: string): Map<string, string> {
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
  return new Map(rows.map(({ name, id }) => [name, id]))
}

/** Tokens for Acme that only one thing is wrong with, and ones with which nothing is. */
async function tokensOf(dataDir: string, ids: { acme: string; narrow: string }) {
  const own = Buffer.from(readFileSync(join(dataDir, 'session.key'), 'utf8').trim(), 'hex')
  const now = Math.floor(Date.now() / 1000)
  const good = { org: ids.acme, iss: 'cairn', aud: 'cairn', exp: now + 3_600 }
  const sign = (claims: JWTPayload, secret: Uint8Array = own, alg = 'HS256') =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(secret)
  const provider = new TextEncoder().encode(providerSecret)
  const provided = {
    tenant: ids.narrow,
    iss: 'https://id.example',
    aud: 'cairn-api',
    exp: now + 3_600,
  }
  const { exp: _, ...endless } = good
  const { org: __, ...nobody } = good
  return {
    'slug token': await sign({ ...good, org: 'acme' }),
    'expired token': await sign({ ...good, exp: now - 1 }),
    'early token': await sign({ ...good, nbf: now + 600 }),
    'endless token': await sign(endless),
    'other audience token': await sign({ ...good, aud: 'another' }),
    'other issuer token': await sign({ ...good, iss: 'another' }),
    'forged token': await sign(good, new TextEncoder().encode('x'.repeat(32))),
    'unsigned token': new UnsecuredJWT(good).encode(),
    'HS512 token': await sign(good, Buffer.concat([own, own]), 'HS512'),
    'unknown organisation token': await sign({ ...good, org: 'org_unknown' }),
    'no organisation token': await sign(nobody),
    'provided token': await sign(provided, provider),
    'provided slug token': await sign({ ...provided, tenant: 'narrow' }, provider),
    'provided other audience token': await sign({ ...provided, aud: 'x' }, provider),
    'provided other issuer token': await sign({ ...provided, iss: 'https://x' }, provider),
    'provided org claim token': await sign({ ...provided, tenant: 1, org: ids.narrow }, provider),
  }
}

/** Prepares everything and starts the servers; `place.close()` ends it all. */
export async function setStage(): Promise<Stage> {
  const place = new Workplace()
  const dataDir = join(place.folder, 'cairn-data')
  const narrowDir = join(place.folder, 'narrow')
  // The first command makes the database; the others then only have to take turns.
  const [acme, narrow] = await Promise.all([
    play(place, parts[0]!, {}),
    play(place, otherServer, otherSettings),
  ])
  const others = await Promise.all(parts.slice(1).map(part => play(place, part, {})))
  const played = [acme, ...others, narrow]
  const [server, narrowServer] = await Promise.all([place.serve(), place.serve([], otherSettings)])

  const names = new Map([
    ['event', '{kind: custom, name: clicked, userId: somebody}'],
    ['tick', '{key: photo, completed: true}'],
    ['wrong', 'wrong'],
    ['print', '{matchCount: 1}'],
    ['bom', '\uFEFF'],
    ['unknown key', 'Unknown0Unknown0Unknown0Unknown0'],
  ])
  const holders = new Map<string, Holder>()
  for (const [index, part] of [...parts, otherServer].entries()) {
    const isOther = part === otherServer
    const holder = { limit: part.limit ?? null, server: isOther ? narrowServer : server }
    for (const [name, key] of Object.entries(played[index]!.keys)) {
      names.set(part.prefix + name, key)
      holders.set(key, holder)
    }
    for (const [name, id] of idsOf(isOther ? narrowDir : dataDir, part.slug)) {
      names.set(part.prefix + name, id)
    }
    if (isOther) continue
    const { token } = await place.json<{ token: string }>(['token', 'issue', '--org', part.slug])
    names.set(`${part.prefix}token`, token)
    holders.set(token, holder)
  }
  const tokens = await tokensOf(dataDir, { acme: acme.id, narrow: narrow.id })
  for (const [name, token] of Object.entries(tokens)) {
    names.set(name, token)
    holders.set(token, holders.get(names.get(name.startsWith('provided') ? 'narrow key' : 'key')!)!)
  }
  return { place, server, names, holders }
}
