import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { dayMs, minuteMs } from '../../src/core/time/durations.ts'
import { providerTokens } from '../../src/http/session-tokens.ts'
import { IssuerKeys } from '../../src/runtime/issuer-keys.ts'
import { HandClock } from '../support/hand-clock.ts'
import {
  audience,
  Provider,
  type SigningKey,
  signedWith,
  signingKey,
} from '../support/identity-provider.ts'

/** How the keys of a real provider are fetched, kept and dropped, and how often the provider is asked. */

let old: SigningKey
let rotated: SigningKey
let provider: Provider
let dataDir: string
let cairn: Cairn

beforeAll(async () => {
  ;[old, rotated] = await Promise.all([signingKey('ES256', 'old'), signingKey('ES256', 'rotated')])
  provider = await Provider.start([old])
})
afterAll(() => provider.stop())

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'cairn-issuer-'))
  await provider.use([old])
  provider.asked = 0
  cairn = new Cairn()
})
afterEach(() => rmSync(dataDir, { recursive: true }))

/** The requests of one fetch: for the discovery document, and for the keys. */
const aFetch = 2

/** The keys, and the tokens that they verify. */
class Cairn {
  readonly clock = new HandClock(Date.now())
  readonly log: { level: number; msg: string; reason?: string; keys?: number }[] = []
  readonly keys: IssuerKeys

  constructor(issuer = provider.issuer, jwksUrl: string | null = null) {
    this.keys = new IssuerKeys(
      { issuer, jwksUrl },
      dataDir,
      this.clock,
      pino({ base: null }, { write: (line: string) => this.log.push(JSON.parse(line)) }),
    )
  }

  /** Null for a token that is refused. */
  organisationOf(token: string): Promise<string | null> {
    const tokens = providerTokens({
      issuer: provider.issuer,
      audience,
      type: null,
      organisationClaim: 'org',
      clock: this.clock,
      source: this.keys,
    })
    return tokens.organisationOf(token).catch(() => null)
  }

  /** Time passes, and the server looks each second whether keys are due. */
  async passes(ms: number): Promise<void> {
    for (const end = this.clock.monotonic() + ms; this.clock.monotonic() < end; ) {
      this.clock.advance(1_000)
      await this.keys.refresh()
    }
  }
}

/** A token of the provider's own form, as long-lived as a test needs. */
const tokenOf = (key: SigningKey, more: object = {}) => {
  const exp = Math.floor(Date.now() / 1000) + (30 * dayMs) / 1000
  return signedWith(key, { org: 'acme', iss: provider.issuer, aud: audience, exp, ...more })
}

describe('rotation', () => {
  test('a new key is known at its first use, and an old one refused once it is dropped', async () => {
    await cairn.keys.refresh()
    const oldToken = await provider.token('acme', 'ES256')
    expect(await cairn.organisationOf(oldToken)).toBe('acme')
    await provider.use([rotated])
    expect(await cairn.organisationOf(oldToken)).toBe('acme')
    expect(await cairn.organisationOf(await provider.token('acme', 'ES256'))).toBe('acme')
    expect(await cairn.organisationOf(oldToken)).toBeNull()
  })

  test('without any use, new keys are known after ten minutes', async () => {
    await cairn.keys.refresh()
    await provider.use([rotated])
    await cairn.passes(10 * minuteMs - 1_000)
    expect(cairn.keys.keys.map(({ kid }) => kid)).toEqual(['old'])
    await cairn.passes(1_000)
    expect(cairn.keys.keys.map(({ kid }) => kid)).toEqual(['rotated'])
  })

  test('a new key is known at its first use, even if an unknown one just caused a fetch', async () => {
    await cairn.keys.refresh()
    const unknown = await tokenOf({ ...old, kid: 'unknown' })
    for (let i = 0; i < 4; i++) expect(await cairn.organisationOf(unknown)).toBeNull()
    await provider.use([rotated])
    expect(await cairn.organisationOf(await tokenOf(rotated))).toBe('acme')
  })

  test('in a flood of unknown keys, a new one is known in half a minute, used again or not', async () => {
    await cairn.keys.refresh()
    const unknown = await tokenOf({ ...old, kid: 'unknown' })
    for (let i = 0; i < 10; i++) expect(await cairn.organisationOf(unknown)).toBeNull()
    await provider.use([rotated])
    const token = await tokenOf(rotated)
    expect(await cairn.organisationOf(token)).toBeNull()
    await cairn.passes(29_000)
    expect(cairn.keys.keys.map(({ kid }) => kid)).toEqual(['old'])
    await cairn.passes(1_000)
    expect(cairn.keys.keys.map(({ kid }) => kid)).toEqual(['rotated'])
    provider.asked = 0
    expect(await cairn.organisationOf(token)).toBe('acme')
    expect(provider.asked).toBe(0)
  })

  test('a request before the first keys are there waits for them', async () => {
    const first = cairn.keys.refresh()
    expect(await cairn.organisationOf(await tokenOf(old))).toBe('acme')
    await first
    expect(provider.asked).toBe(aFetch)
    // The request did not fetch by itself, so a key made since is still looked for at once.
    await provider.use([rotated])
    expect(await cairn.organisationOf(await tokenOf(rotated))).toBe('acme')
  })
})

describe('the provider is not hammered', () => {
  const strangers = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => tokenOf({ ...old, kid: `unknown ${i}` })))

  const rejectAll = async (tokens: readonly string[]) => {
    const answers = await Promise.all(tokens.map(token => cairn.organisationOf(token)))
    expect(answers.every(answer => answer === null)).toBe(true)
  }

  test('by 200 tokens at once with keys that nobody knows: they share one fetch', async () => {
    await cairn.keys.refresh()
    provider.asked = 0
    await rejectAll(await strangers(200))
    expect(provider.asked).toBe(aFetch)
  })

  test('by any number of them: five fetches, and one more every half a minute', async () => {
    await cairn.keys.refresh()
    provider.asked = 0
    const unknown = await strangers(10)
    const fetches = () => provider.asked / aFetch
    for (let round = 0; round < 10; round++) await rejectAll(unknown)
    expect(fetches()).toBe(5)
    cairn.clock.advance(29_999)
    await rejectAll(unknown)
    expect(fetches()).toBe(5)
    cairn.clock.advance(1)
    for (let round = 0; round < 10; round++) await rejectAll(unknown)
    expect(fetches()).toBe(6)
    for (let second = 0; second < 3_600; second++) {
      await cairn.passes(1_000)
      await rejectAll(unknown.slice(0, 1))
    }
    expect(fetches()).toBe(6 + 120)
  })

  test('while it is down: asked after 5, 10, 20 seconds and so on, then every five minutes', async () => {
    await provider.stop()
    const failing = Bun.serve({
      port: Number(new URL(provider.issuer).port),
      hostname: '127.0.0.1',
      fetch() {
        times.push((cairn.clock.monotonic() - startedAt) / 1_000)
        return new Response(null, { status: 503 })
      },
    })
    const times: number[] = []
    const startedAt = cairn.clock.monotonic()
    const unknown = await tokenOf(rotated)
    await cairn.keys.refresh()
    for (let second = 0; second < 1_300; second++) {
      await cairn.passes(1_000)
      // Requests with an unknown key meanwhile change nothing.
      expect(await cairn.organisationOf(unknown)).toBeNull()
    }
    await failing.stop(true)
    await provider.resume()
    expect(times).toEqual([0, 5, 15, 35, 75, 155, 315, 615, 915, 1_215])
  })

  test('by what it says itself about how long keys last: from a minute to an hour', async () => {
    await provider.stop()
    let maxAge = 0
    let requested = 0
    const { d: _, ...key } = old
    const caching = Bun.serve({
      port: Number(new URL(provider.issuer).port),
      hostname: '127.0.0.1',
      fetch(request) {
        requested++
        const headers = { 'cache-control': `max-age=${maxAge}` }
        if (request.url.endsWith('/jwks')) return Response.json({ keys: [key] }, { headers })
        const jwks_uri = `${provider.issuer}/jwks`
        return Response.json({ issuer: provider.issuer, jwks_uri })
      },
    })
    const fetchesIn = async (ms: number) => {
      await cairn.keys.refresh()
      requested = 0
      await cairn.passes(ms)
      return requested / aFetch
    }
    expect(await fetchesIn(10 * minuteMs)).toBe(10)
    maxAge = 1_200
    await cairn.passes(minuteMs)
    expect(await fetchesIn(60 * minuteMs)).toBe(3)
    maxAge = 86_400
    await cairn.passes(20 * minuteMs)
    expect(await fetchesIn(120 * minuteMs)).toBe(2)
    await caching.stop(true)
    await provider.resume()
  })
})

describe('while the provider is down', () => {
  beforeEach(async () => {
    await cairn.keys.refresh()
    await provider.stop()
  })
  afterEach(() => provider.resume())

  test('its last good keys go on working, for days, and no request waits', async () => {
    const token = await tokenOf(old)
    for (let day = 0; day < 7; day++) {
      cairn.clock.advance(dayMs)
      await cairn.keys.refresh()
      expect(await cairn.organisationOf(token)).toBe('acme')
    }
  })

  test('the log says so once, and once that it is back, with no token in it', async () => {
    const token = await tokenOf(rotated)
    cairn.log.length = 0
    await cairn.passes(60 * minuteMs)
    await cairn.organisationOf(token)
    expect(cairn.log).toHaveLength(1)
    expect(cairn.log[0]).toMatchObject({ level: 40, keys: 1 })
    expect(cairn.log[0]!.reason).toContain('ECONNREFUSED')
    await provider.resume()
    await cairn.passes(10 * minuteMs)
    expect(cairn.log.map(({ msg }) => msg).slice(1)).toEqual([
      'the identity provider answers again',
    ])
    expect(JSON.stringify(cairn.log)).not.toContain(token)
    await provider.stop()
  })

  test('without any key, the log says that no token can be verified', async () => {
    rmSync(join(dataDir, 'issuer-keys.json'))
    const restarted = new Cairn()
    await restarted.keys.refresh()
    expect(restarted.log[0]!.msg).toContain('no session token can be verified until it does')
    expect(await restarted.organisationOf(await tokenOf(old))).toBeNull()
  })

  test('a provider that answers without keys counts as down, not as one without keys', async () => {
    const empty = Bun.serve({
      port: Number(new URL(provider.issuer).port),
      hostname: '127.0.0.1',
      fetch: () =>
        Response.json({
          issuer: provider.issuer,
          jwks_uri: `${provider.issuer}/jwks`,
          keys: [],
        }),
    })
    await cairn.passes(10 * minuteMs)
    expect(await cairn.organisationOf(await tokenOf(old))).toBe('acme')
    await empty.stop(true)
  })
})

describe('issuer-keys.json', () => {
  const file = () => join(dataDir, 'issuer-keys.json')

  test('holds the public keys alone, readable to its owner alone', async () => {
    await cairn.keys.refresh()
    expect(readdirSync(dataDir)).toEqual(['issuer-keys.json'])
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    const { d: _, use: __, ...key } = old
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      issuer: provider.issuer,
      jwksUrl: null,
      keys: [key],
    })
  })

  test('of another issuer, or from another address, is ignored', async () => {
    await cairn.keys.refresh()
    expect(new Cairn().keys.keys).toHaveLength(1)
    expect(new Cairn('http://localhost:1').keys.keys).toEqual([])
    expect(new Cairn(provider.issuer, 'http://localhost:1/k').keys.keys).toEqual([])
  })

  test.each(['', '{', 'null', '[]', '{"keys":1}'])('that holds %p stops nothing', async text => {
    writeFileSync(file(), text)
    const started = new Cairn()
    expect(started.keys.keys).toEqual([])
    await started.keys.refresh()
    expect(await started.organisationOf(await tokenOf(old))).toBe('acme')
    expect(new Cairn().keys.keys).toHaveLength(1)
  })

  test('that cannot be written is a warning, and the keys work', async () => {
    rmSync(dataDir, { recursive: true })
    await cairn.keys.refresh()
    mkdirSync(dataDir)
    expect(await cairn.organisationOf(await tokenOf(old))).toBe('acme')
    expect(cairn.log.at(-1)!.msg).toStartWith('issuer-keys.json cannot be written')
  })
})

test('an unreadable name of a key is cut short in the log', async () => {
  const odd = await signingKey('ES256', `\u001b[2J${'x'.repeat(10_000)}`)
  await provider.use([odd])
  await cairn.keys.refresh()
  const [line] = cairn.log
  expect(JSON.stringify(line).length).toBeLessThan(400)
  expect(JSON.stringify(line)).not.toContain('u001b')
  expect(await cairn.organisationOf(await tokenOf(odd))).toBe('acme')
})

test('no request waits longer than the patience, whatever the provider does', async () => {
  const answer = Promise.withResolvers<Response>()
  using silent = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer.promise })
  const log = pino({ level: 'silent' })
  const place = { issuer: silent.url.href, jwksUrl: null }
  const keys = new IssuerKeys(place, dataDir, new HandClock(), log, 20)
  await Promise.all([keys.renew(), keys.renew()])
  expect(keys.keys).toEqual([])
  answer.resolve(new Response())
})
