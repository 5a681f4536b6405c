import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { apiOf, builtBinary, type Server, Workplace, withTour } from '../support/binary.ts'
import { audience, Provider, signedWith, signingKey } from '../support/identity-provider.ts'
import { prepared } from '../support/prepared.ts'
import { MetricsPage } from '../support/prometheus.ts'

/** A data directory with an organisation and a published flow. */
const withData = prepared(withTour)

let place: Workplace

beforeEach(async () => {
  await builtBinary()
  place = new Workplace()
})
afterEach(() => place.close())

const file = () => join(place.folder, 'cairn.env')
const write = (...lines: string[]) => Bun.write(file(), `${lines.join('\n')}\n`)

/** Lines of the log that tell of a reload, as JSON. */
const told = (server: Server, message: string) =>
  server.stdout
    .split('\n')
    .filter(line => line.includes(message))
    .map(line => JSON.parse(line))

async function reload(server: Server, message: string): Promise<void> {
  const before = told(server, message).length
  server.child.kill('SIGHUP')
  await server.until(() => told(server, message).length > before)
}

const metricsOf = async (server: Server) =>
  new MetricsPage(await (await fetch(`${server.managementUrl}/metrics`)).text())

test('the log level changes', async () => {
  await write('CAIRN_LOG_LEVEL=warn')
  const server = await place.serve(['--config', file()])
  await fetch(`${server.url}/api/v1/flows`)
  await write('CAIRN_LOG_LEVEL=info')
  await reload(server, 'settings taken up')
  expect(told(server, 'settings taken up')[0].changed).toEqual(['CAIRN_LOG_LEVEL'])
  await fetch(`${server.url}/api/v1/flows`)
  await server.until(() => server.stdout.includes('GET /flows'))
  await write('CAIRN_LOG_LEVEL=warn')
  await reload(server, 'settings taken up')
})

test('settings that need a restart are named, and do not change', async () => {
  await write('CAIRN_ACK=commit')
  const server = await place.serve(['--config', file()])
  await write('CAIRN_ACK=buffer', 'CAIRN_BUFFER_EVENTS=1000', 'TZ=UTC')
  await reload(server, 'changed settings take effect at the next restart')
  expect(told(server, 'at the next restart')[0].waiting).toEqual([
    'CAIRN_ACK',
    'CAIRN_BUFFER_EVENTS',
  ])
  await server.until(() => server.stdout.includes(`TZ in ${file()} is ignored`))
  expect((await metricsOf(server)).sum('cairn_buffer_limit_events')).toBe(50_000)
})

test('a wrong setting keeps the previous ones, says why, and shows in the metrics', async () => {
  await write('CAIRN_ORGANISATION_CLAIM=org')
  const server = await place.serve(['--config', file()])
  const wentWell = 'cairn_config_last_reload_successful'
  expect((await metricsOf(server)).sum(wentWell)).toBe(1)
  await write('CAIRN_LOG_LEVEL=warn', 'CAIRN_RETENTION_DAYS=soon', 'nonsense')
  await reload(server, 'the new settings are invalid')
  expect(told(server, 'the new settings are invalid')[0].reasons).toEqual([
    `line 3 of ${file()}: write NAME=value, or begin a comment with #`,
    `CAIRN_RETENTION_DAYS in ${file()} is "soon": set a whole number from 1 to 3650`,
  ])
  expect((await metricsOf(server)).sum(wentWell)).toBe(0)
  expect((await fetch(`${server.managementUrl}/readyz`)).status).toBe(200)
  await write('CAIRN_ORGANISATION_CLAIM=org')
  await reload(server, 'no setting changed')
  expect((await metricsOf(server)).sum(wentWell)).toBe(1)
})

test('a shorter retention rejects older events from the next request', async () => {
  const { snippetKey } = await withData(place)
  await write('CAIRN_RETENTION_DAYS=90')
  const server = await place.serve(['--config', file()])
  const occurredAt = new Date(Date.now() - 10 * 86_400_000).toISOString()
  const send = async () => {
    const events = [{ kind: 'custom', name: 'x', userId: 'u', occurredAt }]
    return (await apiOf(server, snippetKey)('POST', '/events', { events })).status
  }
  expect(await send()).toBe(202)
  await write('CAIRN_RETENTION_DAYS=5')
  await reload(server, 'settings taken up')
  expect(await send()).toBe(422)
})

describe('which session tokens are accepted', () => {
  const oldSecret = 'the secret of before, thirty-two bytes'
  const newSecret = 'the secret from now on, thirty-two bytes'

  const analyticsWith = async (server: Server, token: string) => {
    const response = await apiOf(server, token)('GET', '/flows/flow_none/analytics')
    return response.status
  }

  const signed = (organisation: string, secret: string) =>
    new SignJWT({ org: organisation })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret))

  test('a new secret in its file replaces the old one', async () => {
    const { id } = await withData(place)
    const secretFile = join(place.folder, 'secret')
    await Bun.write(secretFile, oldSecret)
    const server = await place.serve([], { CAIRN_SESSION_SECRET_FILE: secretFile })
    const [before, after] = [await signed(id, oldSecret), await signed(id, newSecret)]
    expect(await analyticsWith(server, before)).toBe(404)
    expect(await analyticsWith(server, after)).toBe(401)
    await Bun.write(secretFile, newSecret)
    await reload(server, 'settings taken up')
    await server.until(async () => (await analyticsWith(server, after)) === 404)
    expect(await analyticsWith(server, before)).toBe(401)
    expect(server.stdout).not.toContain('the secret')
  })

  test('an identity provider replaces the server’s own key', async () => {
    const { id } = await withData(place)
    const key = await signingKey('ES256', 'es')
    const provider = await Provider.start([key])
    await write('CAIRN_LOG_LEVEL=info')
    const server = await place.serve(['--config', file()])
    const { token: own } = await place.json<{ token: string }>(['token', 'issue'])
    expect(await analyticsWith(server, own)).toBe(404)
    await write(`CAIRN_SESSION_ISSUER=${provider.issuer}`, `CAIRN_SESSION_AUDIENCE=${audience}`)
    await reload(server, 'settings taken up')
    const exp = Math.floor(Date.now() / 1_000) + 300
    const claims = { iss: provider.issuer, aud: audience, org: id, exp }
    const theirs = await signedWith(key, claims)
    await server.until(async () => (await analyticsWith(server, theirs)) === 404)
    expect(await analyticsWith(server, own)).toBe(401)
    const holder = await Bun.file(join(place.folder, 'cairn-data/server.json')).json()
    expect(holder.sessionTokens).toMatchObject({ signer: 'provider', issuer: provider.issuer })
    await provider.stop()
  })
})
