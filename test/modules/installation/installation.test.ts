import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { pinnedSnippet } from '../../../src/web/snippet-files.ts'
import { tour } from '../../support/flows.ts'
import { rotateKey } from '../../support/organisations.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
beforeEach(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ status: 100_000, heartbeat: 100_000, events: 100_000, flows: 100_000 })
})

const minute = 60_000
const hour = 3_600_000

const status = async () => {
  const answer = await tenant.answer('GET /snippet-status')
  expect(answer.status).toBe(200)
  return answer.body
}
const state = async () => (await status()).state
const codes = async () => (await status()).findings.map(({ code }: { code: string }) => code)
const good = { kind: 'custom', name: 'x', userId: 'u' }

describe('heartbeat', () => {
  test('a page that names a person gets their progress, and its turn among all pages', async () => {
    tenant.limit({ heartbeat: 10 })
    const beat = async () => (await tenant.answer('GET /heartbeat?userId=ann')).body
    expect(await beat()).toMatchObject({
      progressVersion: expect.any(String),
      nextHeartbeatSeconds: 10,
    })
    // Eight turns a minute, or five where many pages wait; a page that comes unasked takes one too.
    const next = []
    for (let page = 1; page < 8; page++) next.push((await beat()).nextHeartbeatSeconds)
    expect(next).toEqual([25, 40, 60, 84, 108, 132, 156])
  })

  test('any number of pages stays within the limit', async () => {
    for (const pages of [1, 2, 5, 30]) {
      tenant = await Tenant.of(world)
      const due = Array.from({ length: pages }, (_, i) => world.clock.monotonic() + i * 15_000)
      const waits: number[] = []
      const refused: number[] = []
      const told: string[] = []
      for (let beats = 0; beats < 10 * pages; beats++) {
        const page = due.indexOf(Math.min(...due))
        world.clock.advance(Math.max(0, due[page]! - world.clock.monotonic()))
        const known = told[page] ? `&progressVersion=${told[page]}` : ''
        const { status, body } = await tenant.answer(`GET /heartbeat?userId=${page}${known}`)
        told[page] = body.progressVersion
        if (status !== 200) refused.push(beats)
        const seconds = status === 200 ? body.nextHeartbeatSeconds : body.retryAfter
        due[page] = world.clock.monotonic() + seconds * 1_000
        waits.push(seconds)
      }
      expect([pages, refused]).toEqual([pages, []])
      // Each page has its turn again as soon as all have had theirs.
      const longest = Math.max(...waits.slice(-pages))
      expect([pages, longest]).toEqual([pages, Math.max(10, pages * (pages < 5 ? 7.5 : 12))])
    }
  })
})

test('active for five minutes, quiet for 24 hours, then stale, and active again', async () => {
  await tenant.ask('GET /heartbeat')
  expect(await state()).toBe('active')
  world.clock.advance(5 * minute)
  expect(await state()).toBe('active')
  world.clock.advance(1_000)
  expect(await state()).toBe('quiet')
  world.clock.advance(24 * hour - 5 * minute - 1_000)
  expect(await state()).toBe('quiet')
  world.clock.advance(1_000)
  expect(await state()).toBe('stale')
  await tenant.ask('GET /flows')
  expect(await state()).toBe('active')
})

describe('findings', () => {
  test('fetched flows without events are a warning; with events all is well', async () => {
    await tenant.ask('GET /flows')
    expect(await codes()).toEqual(['nothing_published'])
    tenant.publish(tour())
    expect(await codes()).toEqual(['no_events'])
    await tenant.send([good])
    expect(await codes()).toEqual([])
  })

  test('a limit that was reached is a warning with its bucket, counted once a minute', async () => {
    tenant.publish(tour())
    tenant.limit({ heartbeat: 1 })
    for (let i = 0; i < 5; i++) await tenant.ask('GET /heartbeat')
    world.clock.advance(minute)
    for (let i = 0; i < 5; i++) await tenant.ask('GET /heartbeat')
    await world.written()
    const { findings, rejected24h } = await status()
    expect(findings).toEqual([
      expect.objectContaining({
        severity: 'warning',
        code: 'limit_reached',
        message: expect.stringContaining('limit of heartbeat'),
      }),
    ])
    expect(findings[0].message).toEndWith('in 2 minutes of the last 24 hours.')
    expect(rejected24h).toEqual({})
  })

  test('a rotated key in use is a warning while it works, and misconfigured once nothing else comes', async () => {
    tenant.publish(tour())
    const old = tenant.key
    await tenant.ask('GET /flows')
    const { snippetKey } = rotateKey(world.database, tenant.row, {
      now: world.clock.now(),
      graceMs: hour,
    })
    world.takeUp()
    const found = async () => {
      const { body } = await tenant.answer('GET /snippet-status', { credential: snippetKey })
      const [finding] = body.findings.filter((f: { code: string }) => f.code === 'old_key_used')
      return finding && `${body.state} ${finding.severity} ${finding.message}`
    }
    expect(await found()).toBeUndefined()
    await tenant.send([good], {})
    expect(await found()).toContain(`active warning`)
    expect(await found()).toContain('in use, last 1 minute ago; it works for another 1 hour.')
    // It is asked for after a restart too.
    await world.storage.housekeeping.writePresence()
    world.clock.advance(hour + 1_000)
    expect(await found()).toBeUndefined()
    expect((await tenant.ask('GET /flows', { credential: old })).status).toBe(401)
    expect(await found()).toContain(' warning ')
    world.clock.advance(6 * minute)
    expect(await found()).toContain('misconfigured error')
    expect(await found()).toContain('it has been rejected for 6 minutes.')
    await tenant.ask('GET /flows', { credential: snippetKey })
    expect(await found()).toContain('active warning')
    world.clock.advance(25 * hour)
    expect(await found()).toBeUndefined()
  })

  test('refused origins are an error where nothing ever got through: misconfigured', async () => {
    tenant.allowOrigins('https://app.example')
    const headers = { origin: 'https://staging.example' }
    await tenant.ask('GET /flows', { headers })
    await world.written()
    expect(await state()).toBe('misconfigured')
    expect(await codes()).toContain('origin_not_allowed')
    await tenant.ask('GET /flows', { headers: { origin: 'https://app.example' } })
    const { state: now, findings } = await status()
    expect(now).toBe('active')
    expect(findings).toContainEqual(
      expect.objectContaining({ severity: 'warning', code: 'origin_not_allowed' }),
    )
  })

  test('clocks that are far off are a warning, by the median', async () => {
    tenant.publish(tour())
    await tenant.ask('GET /flows')
    for (const skewMs of [100, 90_000, 90_000, 90_000, 120_000]) {
      await tenant.send([good], { sentAt: world.clock.now() - skewMs })
    }
    await world.storage.housekeeping.writePresence()
    expect((await status()).skewMsMedian).toBe(90_000)
    expect(await codes()).toEqual(['clock_skew'])
  })
})

test('nothing that another caller sent is shown: all who view the page have the key', async () => {
  tenant.allowOrigins('https://app.example')
  const secret = 'secret-of-another'
  await tenant.ask('GET /flows', { headers: { origin: `https://${secret}.example` } })
  await tenant.ask(`GET /heartbeat?url=https://${secret}.example/&sid=${secret}`)
  await tenant.send([
    { ...good, userId: secret, url: secret, name: secret, properties: { secret } },
    { kind: secret, id: secret },
  ])
  await world.written()
  expect(JSON.stringify(await status())).not.toContain('secret')
})

test('managers get the same status, up to the moment, and the count of reports of erased people', async () => {
  const credential = await tenant.managementToken('flows:read')
  await tenant.send([good], { sentAt: world.clock.now() - hour })
  const { status: answered, body } = await tenant.answer('GET /manage/install', { credential })
  const { erased24h, snippetKey, snippet, publicUrl, ...told } = body
  expect([answered, erased24h, told.skewMsMedian]).toEqual([200, 0, hour])
  expect([snippetKey, snippet, publicUrl]).toEqual([tenant.key, pinnedSnippet, null])
  const bare = told.findings.map(({ since: _, ...finding }: { since: string | null }) => finding)
  expect({ ...told, findings: bare }).toEqual(await status())
})

test('managers are told since when a finding is seen, to the hour; viewers of a page are not', async () => {
  const credential = await tenant.managementToken('flows:read')
  const from = Math.floor(world.clock.now() / hour) * hour
  for (let i = 0; i < 3; i++) {
    await tenant.send([{ kind: 'nonsense' }])
    world.clock.advance(20 * hour)
  }
  const { body } = await tenant.answer('GET /manage/install', { credential })
  const since = body.findings.find(({ code }: Told) => code === 'events_rejected')!.since
  expect(since).toBe(new Date(from).toISOString())
  const told: Told = (await status()).findings.find(({ code }: Told) => code === 'events_rejected')!
  expect(Object.keys(told)).toEqual(['severity', 'code', 'message', 'fix'])
})

interface Told {
  code: string
  since?: string | null
}
