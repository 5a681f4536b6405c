import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { SessionKeyUnusable, sessionKey } from '../../src/runtime/session-key.ts'
import { ownTokensFor } from '../../src/runtime/tokens.ts'

let folder: string
const file = () => join(folder, 'session.key')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-key-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

test('the key is made once, of 32 bytes, readable to its owner alone', () => {
  const key = sessionKey(folder)
  expect(key).toHaveLength(32)
  expect(sessionKey(folder)).toEqual(key)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  expect(readFileSync(file(), 'utf8')).toBe(`${Buffer.from(key).toString('hex')}\n`)
  expect(readdirSync(folder)).toEqual(['session.key'])
})

test('a directory that is not there is made, for its owner alone', () => {
  const inside = join(folder, 'new')
  sessionKey(inside)
  expect(statSync(inside).mode & 0o777).toBe(0o700)
})

test('processes that start at once agree on one key', async () => {
  const code = `
    import { sessionKey } from ${JSON.stringify(resolve(import.meta.dir, '../../src/runtime/session-key.ts'))}
    console.log(Buffer.from(sessionKey(${JSON.stringify(folder)})).toString('hex'))`
  const keys = await Promise.all(
    Array.from({ length: 8 }, () =>
      new Response(Bun.spawn([process.execPath, '-e', code]).stdout).text(),
    ),
  )
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f]{64}\n$/)
  expect(readdirSync(folder)).toEqual(['session.key'])
})

test.each([0o640, 0o604, 0o660, 0o666])('a key of mode %o is refused', mode => {
  sessionKey(folder)
  chmodSync(file(), mode)
  expect(() => sessionKey(folder)).toThrow(SessionKeyUnusable)
  expect(() => sessionKey(folder)).toThrow('chmod 600')
})

test.each(['', 'abc', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(66)])(
  '%p is refused as a key',
  text => {
    writeFileSync(file(), text, { mode: 0o600 })
    expect(() => sessionKey(folder)).toThrow('is not a session key')
    expect(readFileSync(file(), 'utf8')).toBe(text)
  },
)

const clock = { now: () => 1_790_000_000_000, monotonic: () => 0 }
const config = () => ({
  data: folder,
  sessionSecret: null,
  sessionIssuer: null,
  sessionAudience: null,
  sessionType: null,
  sessionJwksUrl: null,
  organisationClaim: 'org',
})

test('without a secret, tokens of a data directory are valid there and nowhere else', async () => {
  const { token } = await ownTokensFor(config(), clock).issue('harbor', 60)
  expect(await ownTokensFor(config(), clock).organisationOf(token)).toBe('harbor')
  const elsewhere = { ...config(), data: join(folder, 'other') }
  await expect(ownTokensFor(elsewhere, clock).organisationOf(token)).rejects.toThrow('Unauthorized')
})

test('with a secret no key is made, and issuer and audience must fit', async () => {
  const shared = {
    ...config(),
    sessionSecret: 's'.repeat(32),
    sessionIssuer: 'https://id.example',
    sessionAudience: 'cairn',
  }
  const { token } = await ownTokensFor(shared, clock).issue('harbor', 60)
  expect(await ownTokensFor(shared, clock).organisationOf(token)).toBe('harbor')
  const others = [{ sessionIssuer: 'https://x.example' }, { sessionAudience: 'other' }]
  for (const other of others) {
    const tokens = ownTokensFor({ ...shared, ...other }, clock)
    await expect(tokens.organisationOf(token)).rejects.toThrow('Unauthorized')
  }
  expect(readdirSync(folder)).toEqual([])
})
