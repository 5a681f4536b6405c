import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { apiOf, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

setDefaultTimeout(300_000)

const place = new CommandLine()
let snippetKey = ''
beforeAll(async () => {
  snippetKey = (await withTour(place)).snippetKey
})
afterAll(() => place.close())

const identity = (...args: string[]) => place.run(['org', 'identity', 'acme', ...args])

interface Told {
  mode: string
  secrets: { createdAt: string; worksUntil: string | null; secret?: string }[]
  last24h: Record<string, number | null>
  hours: unknown[]
  next: string
}
const told = (...args: string[]) => place.json<Told>(['org', 'identity', 'acme', ...args])

test('every organisation begins with "off", and is told what to do next', async () => {
  const { stdout, stderr, status } = await identity()
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toStartWith('acme: off, hashes are not looked at\n')
  expect(stdout).toEndWith(
    'next: count hashes before you require them: "cairn org identity acme --mode observe"\n',
  )
})

test('a secret is printed when it is made, and later only if it is asked for', async () => {
  const made = await told('--mode', 'observe')
  const secret = made.secrets[0]?.secret ?? ''
  expect(secret).toMatch(/^[A-Za-z0-9]{48}$/)
  expect(JSON.stringify(await told())).not.toContain(secret)
  expect((await identity()).stdout).not.toContain(secret)
  expect((await identity('--show-secret')).stdout).toContain(secret)
  const rotated = await told('--rotate-secret')
  expect(rotated.secrets).toMatchObject([{ worksUntil: null }, { createdAt: expect.any(String) }])
  expect(rotated.secrets[0]?.secret).not.toBe(secret)
  expect(rotated.secrets[1]?.secret).toBeUndefined()
  const [, before] = (await told('--show-secret')).secrets
  expect(before?.secret).toBe(secret)
})

test('a wrong request is refused before anything is changed', async () => {
  const before = await told()
  for (const [args, status, words] of [
    [['--now'], 2, '--now goes with --rotate-secret'],
    [['--mode', 'strict'], 2, 'off, observe, enforce'],
    [['--rotate-secret'], 1, 'two secrets work already'],
  ] as const) {
    const refused = await identity(...args)
    expect(refused.status).toBe(status)
    expect(refused.stderr).toContain(words)
  }
  expect(await told()).toEqual(before)
})

test('beside a running server a change counts from the next request on, and counts are kept', async () => {
  const server = await place.serve()
  const ask = apiOf(server, snippetKey)
  const secret = (await told('--rotate-secret', '--now')).secrets[0]?.secret ?? ''
  const userHash = createHmac('sha256', secret).update('ann').digest('hex')
  const send = async (more: object) => {
    const events = [{ kind: 'custom', name: 'clicked', userId: 'ann', ...more }]
    return (await ask('POST', '/events', { events })).status
  }
  expect(await send({})).toBe(202)
  expect(await send({ userHash })).toBe(202)
  expect((await told()).last24h).toEqual({
    valid: 1,
    outdated: 0,
    invalid: 0,
    missing: 1,
    coverage: 0.5,
  })
  const enforced = await identity('--mode', 'enforce')
  expect(enforced.status).toBe(0)
  expect(enforced.stderr).toContain('of 2 calls and events in 24 hours 1 would have been refused')
  expect(await send({})).toBe(401)
  expect(await send({ userHash: 'wrong' })).toBe(401)
  expect(await send({ userHash })).toBe(202)

  const page = await (await fetch(`${server.managementUrl}/metrics`)).text()
  expect(page).toContain('cairn_user_hashes_total{verdict="valid"} 2\n')
  expect(page).toContain('cairn_user_hashes_total{verdict="missing"} 2\n')
  expect(page).toContain('cairn_unauthorized_total{cause="wrong_user_hash"} 1\n')
  await server.end()
  for (const text of [secret, userHash, '"ann"']) expect(server.stdout).not.toContain(text)
  expect(server.stdout).toContain('"cause":"missing_user_hash"')

  const { last24h, next } = await told()
  expect(last24h).toMatchObject({ valid: 2, missing: 2, invalid: 1 })
  expect(next).toContain('--mode observe')
  expect((await told('--mode', 'off')).secrets).toHaveLength(1)
})

test('where hashes are required, a rotation without a grace time warns, however it was asked for', async () => {
  const words = 'every hash of before is refused from now on'
  await identity('--mode', 'enforce')
  expect((await identity('--rotate-secret')).stderr).toBe('')
  expect((await identity('--rotate-secret', '--now')).stderr).toContain(words)
  const without = await identity('--rotate-secret', '--key-grace-hours', '0')
  expect(without.stderr).toContain(words)
  await identity('--mode', 'observe')
  expect((await identity('--rotate-secret', '--now')).stderr).toBe('')
})
