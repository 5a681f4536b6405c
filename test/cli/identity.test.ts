import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { IdentityAnswer } from '../../src/modules/organisations/schema.ts'
import { apiOf, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

setDefaultTimeout(300_000)

const place = new CommandLine()
let snippetKey = ''
beforeAll(async () => {
  snippetKey = (await withTour(place)).snippetKey
})
afterAll(() => place.close())

const show = (...flags: string[]) =>
  place.json<IdentityAnswer>(['org', 'identity', 'show', ...flags])
const secretNow = async () => (await show('--secrets')).secrets[0]?.secret ?? ''
const setMode = (mode: string) => place.run(['org', 'set', 'identityMode', mode])
const rotate = (...flags: string[]) => place.run(['org', 'identity', 'rotate', ...flags])

test('every organisation begins with "off", and the next step is printed', async () => {
  const { stdout, stderr, status } = await place.run(['org', 'identity', 'show'])
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^mode +off\n/)
  expect(stdout).toContain('"cairn org set identityMode observe"')
})

test('secrets are printed when they are made, and later only with --secrets', async () => {
  await setMode('observe')
  const secret = await secretNow()
  expect(secret).toMatch(/^[A-Za-z0-9]{48}$/)
  expect(JSON.stringify(await show())).not.toContain(secret)
  const { stdout } = await rotate()
  const { secrets } = await show('--secrets')
  expect(secrets.map(one => one.secret)).toEqual([stdout.trim(), secret])
  expect(secrets[1]?.worksUntil).not.toBeNull()
  const again = await rotate()
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('(--now)')])
})

test('beside a running server a change counts from the next request on, and counts are kept', async () => {
  const server = await place.serve()
  const ask = apiOf(server, snippetKey)
  const secret = (await rotate('--now')).stdout.trim()
  expect((await show()).secrets).toHaveLength(1)
  const userHash = createHmac('sha256', secret).update('ann').digest('hex')
  const send = async (more: object) => {
    const events = [{ kind: 'custom', name: 'clicked', userId: 'ann', ...more }]
    return (await ask('POST', '/events', { events })).status
  }
  expect(await send({})).toBe(202)
  expect(await send({ userHash })).toBe(202)
  expect((await show()).last24h).toEqual({ valid: 1, outdated: 0, invalid: 0, missing: 1 })
  const enforced = await setMode('enforce')
  expect(enforced.status).toBe(0)
  expect(enforced.stderr).toContain(
    '1 of 2 calls and events in the last 24 hours had no valid hash',
  )
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

  expect((await show()).last24h).toMatchObject({ valid: 2, missing: 2, invalid: 1 })
  await setMode('off')
  expect((await show()).secrets).toHaveLength(1)
})
