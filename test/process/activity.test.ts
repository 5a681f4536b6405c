import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Static } from '@sinclair/typebox'
import type { Activity } from '../../src/storage/interfaces/events.ts'
import { type Server, Workplace, withTour } from '../support/binary.ts'
import { textsIn } from '../support/erasing.ts'

/** The activity of an organisation, read while events arrive. */

const place = new Workplace()
let server: Server
let acme: Awaited<ReturnType<typeof withTour>>
let other: typeof acme

beforeAll(async () => {
  acme = await withTour(place)
  other = await withTour(place, 'Other')
  for (const slug of ['acme', 'other']) {
    const limits = JSON.stringify({ limits: { events: 100_000, manage: 100_000 } })
    await place.run(['api', 'PATCH', '/settings', '--body', limits, '--org', slug])
  }
  server = await place.serve()
}, 300_000)
afterAll(() => place.close())

const scopes = ['analytics:read', 'people:read', 'people:erase'].flatMap(s => ['--scope', s])

const tokenOf = async (org: string): Promise<string> => {
  const made = ['token', 'create', 'Watcher', ...scopes, '--org', org]
  return (await place.json<{ token: string }>(made)).token
}

const ask = (method: string, path: string, credential: string, body?: object) =>
  fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

const send = async ({ snippetKey }: typeof acme, ...events: object[]) => {
  const response = await ask('POST', '/events', snippetKey, { events })
  expect(response.status).toBe(202)
}

const custom = (id: string, userId = 'ann') => ({ id, kind: 'custom', name: 'x', userId })

/** Follows the activity, page by page, and can wait for an event. */
class Watcher {
  readonly seen: string[] = []
  private cursor: string | null = null

  constructor(private readonly token: string) {}

  async look(): Promise<Static<typeof Activity>> {
    const after = this.cursor === null ? '' : `?after=${this.cursor}`
    const response = await ask('GET', `/manage/activity${after}`, this.token)
    expect(response.status).toBe(200)
    const page = (await response.json()) as Static<typeof Activity>
    this.cursor = page.cursor
    if (page.isAnew) this.seen.length = 0
    this.seen.push(...page.events.map(({ id }) => id ?? ''))
    return page
  }

  async until(id: string): Promise<void> {
    while (!this.seen.includes(id)) await this.look()
  }
}

test('each event is shown once, and to its organisation only', async () => {
  const [watcher, second] = [await tokenOf('acme'), await tokenOf('acme')].map(t => new Watcher(t))
  const elsewhere = new Watcher(await tokenOf('other'))
  await send(acme, custom('before'))
  for (const one of [watcher!, second!, elsewhere]) expect((await one.look()).events).toEqual([])
  const ids = Array.from({ length: 40 }, (_, i) => `event-${i}`)
  for (const id of ids) {
    await send(acme, custom(id))
    await watcher!.look()
  }
  for (const id of ids) await watcher!.until(id)
  for (const id of ids) await second!.until(id)
  expect(watcher!.seen.toSorted()).toEqual(ids.toSorted())
  expect(second!.seen).toEqual(watcher!.seen)
  await send(other, custom('theirs'))
  await elsewhere.until('theirs')
  expect(elsewhere.seen).toEqual(['theirs'])
  await second!.look()
  expect(second!.seen).not.toContain('theirs')
})

test('an erased person is no longer shown, and a refused event is never on the disk', async () => {
  const token = await tokenOf('acme')
  const watcher = new Watcher(token)
  await watcher.look()
  const refused = { ...custom('refused', 'gone-7d1f'), kind: 'refused-7d1f' }
  await send(acme, custom('mine', 'gone-7d1f'), refused, custom('bobs', 'bob'))
  await watcher.until('bobs')
  expect(watcher.seen).toEqual(expect.arrayContaining(['mine', 'refused', 'bobs']))
  expect(textsIn(place.dataDir, ['refused-7d1f'])).toEqual([])
  const erased = await ask('DELETE', '/manage/people?userId=gone-7d1f', token)
  expect(erased.status).toBe(200)
  await erased.text()
  expect((await watcher.look()).isAnew).toBe(true)
  expect(watcher.seen).toEqual([])
  const fresh = await (await ask('GET', '/manage/activity', token)).text()
  expect(fresh).not.toContain('gone-7d1f')
  await send(acme, custom('again', 'gone-7d1f'), custom('bob again', 'bob'))
  await watcher.until('bob again')
  expect(watcher.seen).toEqual(['bob again'])
  expect(server.stdout + server.stderr).not.toContain('7d1f')
})
