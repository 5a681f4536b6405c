import { afterAll, beforeAll, expect, test } from 'bun:test'
import { newId } from '../../../src/core/organisation/ids.ts'
import { defaultSettings } from '../../../src/modules/alerts/rules.ts'
import type {
  Alert,
  Attempted,
  Delivery,
  Recipient,
  SendBound,
  Webhook,
} from '../../../src/storage/interfaces/alerts.ts'
import type { OpenStore, Store } from './store.ts'
import { auditOf, Tenant } from './tenant.ts'

export function alertsConform(open: OpenStore): void {
  let store: Store
  let tenant: Tenant
  let other: Tenant
  beforeAll(async () => {
    store = await open()
    tenant = await Tenant.of(store)
    other = await Tenant.of(store)
  })
  afterAll(() => store.close())

  const port = () => store.management.alerts
  const audit = (action = 'webhook.change') => auditOf(action)
  const lines = async (of: Tenant) =>
    (await store.management.access.audit(of.ref, { most: 50 })).length

  const webhook = (): Webhook => ({
    ...{ id: newId('webhook'), url: 'https://hooks.example/', types: ['step.broken'] },
    ...{ createdAt: 1, failingSince: null, disabledAt: null, disabledWhy: null },
    oldSecretUntil: null,
  })
  const alert = (more: Partial<Alert> = {}): Alert => ({
    ...{ id: newId('alert'), rule: 'step.broken', subject: 'a/b' },
    ...{ facts: { flow: 'a', okRate: 0.5, suggestion: null }, since: 5 },
    ...{ openedAt: 7, resolvedAt: null, ...more },
  })
  const delivery = (more: Partial<Delivery> = {}): Delivery => ({
    ...{ id: newId('msg'), webhook: null, mail: null, type: 'step.broken', body: '{}' },
    ...{ createdAt: 10, state: 'pending', nextAt: 10, attempts: 0 },
    ...{ lastAt: null, status: null, fault: null, ...more },
  })
  const added = async (of = tenant) => {
    const made = webhook()
    expect(await port().addWebhook(of.ref, made, 'whsec_a', 100, audit())).toBe(true)
    return made
  }
  const recorded = (deliveries: readonly Delivery[], of = tenant, max = 100) =>
    port().record(of.ref, { opened: [], resolved: [], deliveries }, max)
  const sentTo = (to: string | null, of = tenant) =>
    port().deliveries(of.ref, { webhook: to, max: 50 })
  const dueIds = async (now: number) => (await port().due(now, 50)).map(({ id }) => id)

  test('settings change with an audit line and deliveries, all or nothing, and survive a restart', async () => {
    expect(await port().settings(tenant.ref)).toEqual({
      ...{ settings: null, reportedFor: null },
    })
    expect(await port().watched()).toEqual([])
    const recipient: Recipient = {
      ...{ mail: 'a@example.com', state: 'waiting', confirmationSentAt: 3 },
    }
    const settings = { ...defaultSettings, report: { on: true, recipients: [recipient] } }
    const before = await lines(tenant)
    const sent = delivery({ mail: 'a@example.com', nextAt: null })
    const seen: unknown[] = []
    const change = (deliveries: Delivery[]) =>
      port().changeSettings(
        tenant.ref,
        stored => {
          seen.push(stored.settings)
          return { settings, reportedFor: '2026-11-16', deliveries, audit: audit() }
        },
        100,
      )
    await change([])
    await change([sent])
    expect(seen).toEqual([null, settings])
    await expect(change([delivery({ type: null as never })])).rejects.toThrow()
    expect(await sentTo(null)).toEqual([sent])
    expect(await lines(tenant)).toBe(before + 2)
    await store.reopen()
    expect(await port().settings(tenant.ref)).toEqual({
      ...{ settings, reportedFor: '2026-11-16' },
    })
    expect((await port().settings(other.ref)).settings).toBeNull()
    expect(await port().watched()).toEqual([tenant.id])
  })

  test('sends on demand are counted by address, organisation or both, all or none, over a restart', async () => {
    const kind = 'confirmation'
    const bound = (per: SendBound['per'], max: number, withinMs: number): SendBound => ({
      ...{ kind, per, max, withinMs, description: `${per} ${max}` },
    })
    const perAddress = bound(['address'], 2, 100)
    const perBoth = bound(['address', 'organisation'], 1, 50)
    const perOrganisation = bound(['organisation'], 3, 1_000)
    const bounds = [perAddress, perBoth, perOrganisation]
    const count = (of: Tenant, now: number, ...addresses: (string | null)[]) => {
      const sends = addresses.map(
        address => ({ kind: address === null ? 'webhook' : kind, address }) as const,
      )
      const line = of === tenant ? audit('alerts.send') : null
      return port().countSends(of.ref, sends, bounds, now, line)
    }
    const before = await lines(tenant)
    expect(await count(tenant, 10, 'a@x.y', null)).toBeNull()
    expect(await lines(tenant)).toBe(before + 1)
    expect(await count(tenant, 59, 'b@x.y', 'a@x.y')).toEqual({
      ...{ bound: perBoth, address: 'a@x.y', until: 60 },
    })
    await store.reopen()
    expect(await count(other, 59, 'a@x.y')).toBeNull()
    expect(await count(tenant, 60, 'a@x.y')).toEqual({
      ...{ bound: perAddress, address: 'a@x.y', until: 110 },
    })
    expect(await count(tenant, 60, 'b@x.y', 'c@x.y', 'd@x.y')).toEqual({
      ...{ bound: perOrganisation, address: null, until: 1_010 },
    })
    expect(await count(tenant, 110, 'a@x.y', 'b@x.y')).toBeNull()
    expect(await lines(tenant)).toBe(before + 2)
    await port().forget(111, 0, 100)
    expect(await count(tenant, 112, 'a@x.y')).toBeNull()
  })

  test('webhooks belong to one organisation, and their number is bounded', async () => {
    const [first, second] = [await added(), await added()]
    expect((await port().webhooks(tenant.ref)).slice(-2)).toEqual([first, second])
    expect(await port().webhooks(other.ref)).toEqual([])
    expect(await port().addWebhook(tenant.ref, webhook(), 'whsec_a', 2, audit())).toBe(false)
    expect(await port().rotateWebhook(other.ref, first.id, 'whsec_b', 99, audit())).toBeNull()
    const rotated = await port().rotateWebhook(tenant.ref, first.id, 'whsec_b', 99, audit())
    expect(rotated).toEqual({ ...first, oldSecretUntil: 99 })
    const change = { types: ['report.weekly' as const], failingSince: 2 }
    expect(await port().changeWebhook(other.ref, first.id, change, audit())).toBeNull()
    expect(await port().changeWebhook(tenant.ref, first.id, change, audit())).toEqual({
      ...rotated!,
      ...change,
    })
    expect(await port().changeWebhook(tenant.ref, first.id, {}, audit())).not.toBeNull()
    expect(await port().removeWebhook(other.ref, second.id, audit())).toBe(false)
    const toFirst = delivery({ webhook: first.id })
    await recorded([delivery({ webhook: second.id }), toFirst])
    const secrets = { secret: 'whsec_b', oldSecret: 'whsec_a', oldSecretUntil: 99 }
    const outgoing = await port().outgoing(tenant.ref, toFirst.id)
    expect(outgoing).toMatchObject({ id: toFirst.id, target: { id: first.id, ...secrets } })
    expect(await port().outgoing(other.ref, toFirst.id)).toBeNull()
    await port().rotateWebhook(tenant.ref, first.id, 'whsec_c', null, audit())
    expect((await port().outgoing(tenant.ref, toFirst.id))?.target).toMatchObject({
      ...{ secret: 'whsec_c', oldSecret: null, oldSecretUntil: null },
    })
    expect(await port().removeWebhook(tenant.ref, second.id, audit())).toBe(true)
    expect(await port().webhooks(tenant.ref)).toEqual([{ ...first, ...change }])
    expect([(await sentTo(first.id)).length, await sentTo(second.id)]).toEqual([1, []])
    expect(await port().removeWebhook(tenant.ref, first.id, audit())).toBe(true)
    expect(await lines(other)).toBe(1)
  })

  test('alerts and their deliveries are written together, or not at all', async () => {
    const [one, two] = [alert(), alert({ subject: 'c/d' })]
    const sent = delivery({ mail: 'a@example.com' })
    const opened = { opened: [one, two], resolved: [], deliveries: [sent] }
    await port().record(tenant.ref, opened, 100)
    const broken = {
      ...{ opened: [alert()], resolved: [] },
      deliveries: [delivery({ type: null as never })],
    }
    await expect(port().record(tenant.ref, broken, 100)).rejects.toThrow()
    await store.reopen()
    expect(await port().alerts(tenant.ref, 0)).toEqual([two, one])
    expect(await port().alerts(other.ref, 0)).toEqual([])
    expect(await sentTo(null)).toEqual([sent])
    expect(await port().delivery(tenant.ref, sent.id)).toEqual(sent)
    expect(await port().delivery(other.ref, sent.id)).toBeNull()

    const resolved = { ...two, resolvedAt: 20 }
    const changes = { opened: [], resolved: [resolved], deliveries: [] }
    await port().record(other.ref, changes, 100)
    expect(await port().alerts(tenant.ref, 0)).toEqual([two, one])
    await port().record(tenant.ref, changes, 100)
    expect(await port().alerts(tenant.ref, 20)).toEqual([resolved, one])
    expect(await port().alerts(tenant.ref, Number.POSITIVE_INFINITY)).toEqual([one])
    const reported = { opened: [], resolved: [], deliveries: [], reportedFor: '2026-11-23' }
    await port().record(tenant.ref, reported, 100)
    expect((await port().settings(tenant.ref)).reportedFor).toBe('2026-11-23')
    await port().forget(11, 21, 100)
    expect([await port().alerts(tenant.ref, 0), await sentTo(null)]).toEqual([[one], []])
  })

  test('for each target, the message that is due first comes first', async () => {
    const [mine, theirs] = [await added(), await added(other)]
    const late = delivery({ webhook: mine.id, nextAt: 30 })
    const soon = delivery({ webhook: mine.id, nextAt: 20 })
    const foreign = delivery({ webhook: theirs.id, nextAt: 25 })
    const mail = delivery({ mail: 'a@example.com', nextAt: 15 })
    const done = delivery({ webhook: mine.id, nextAt: null, state: 'delivered' })
    await recorded([late, soon, mail, done])
    await recorded([foreign], other)
    expect(await dueIds(14)).toEqual([])
    expect(await dueIds(40)).toEqual([mail.id, soon.id, foreign.id])
    const targetOf = ({ id, url, failingSince }: Webhook) => ({
      ...{ id, url, failingSince, secret: 'whsec_a', oldSecret: null, oldSecretUntil: null },
    })
    const [, first, second] = await port().due(40, 50)
    expect(first).toEqual({
      ...soon,
      ...{ orgRef: tenant.ref, organisation: tenant.id, target: targetOf(mine) },
    })
    expect(second).toEqual({
      ...foreign,
      ...{ orgRef: other.ref, organisation: other.id, target: targetOf(theirs) },
    })

    const attempted: Attempted = {
      state: 'delivered',
      ...{ nextAt: null, attempts: 1 },
      ...{ lastAt: 41, status: 204, fault: null },
    }
    await port().attempted(other.ref, soon.id, attempted, null)
    expect(await dueIds(40)).toContain(soon.id)
    const change = { id: mine.id, change: { failingSince: 3 } }
    await port().attempted(tenant.ref, soon.id, attempted, change)
    expect(await dueIds(40)).toEqual([mail.id, foreign.id, late.id])
    expect(await port().delivery(tenant.ref, soon.id)).toEqual({ ...soon, ...attempted })
    expect((await port().webhooks(tenant.ref)).at(-1)).toEqual({ ...mine, failingSince: 3 })

    expect(await port().replay(other.ref, soon.id, 50, audit())).toBe(false)
    expect(await port().replay(tenant.ref, late.id, 50, audit())).toBe(false)
    expect(await port().replay(tenant.ref, soon.id, 50, audit())).toBe(true)
    expect(await port().delivery(tenant.ref, soon.id)).toMatchObject({
      state: 'pending',
      nextAt: 50,
    })

    const disabled = { disabledAt: 60, disabledWhy: 'gone' as const }
    await port().changeWebhook(tenant.ref, mine.id, disabled, audit())
    expect(await dueIds(99)).toEqual([mail.id, foreign.id])
    expect(await port().delivery(tenant.ref, late.id)).toMatchObject({
      state: 'failed',
      nextAt: null,
    })
  })

  test('the number of messages is bounded, and those that nobody waits for go first', async () => {
    const crowded = await Tenant.of(store)
    const to = { mail: 'a@example.com' }
    const waiting = delivery(to)
    const done = [1, 2, 3].map(() => delivery({ ...to, state: 'delivered', nextAt: null }))
    await recorded([waiting, ...done], crowded)
    const last = delivery(to)
    await recorded([last], crowded, 3)
    const left = (await sentTo(null, crowded)).map(({ id }) => id)
    expect(left).toEqual([last.id, done[2]!.id, waiting.id])
  })
}
