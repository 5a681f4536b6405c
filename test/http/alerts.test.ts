import { afterAll, describe, expect, setSystemTime, test } from 'bun:test'
import { alertWatch, type Mail } from '../../src/app.ts'
import { dayMs, hourMs, minuteMs } from '../../src/core/time/durations.ts'
import { confirmationMail } from '../../src/modules/alerts/mail.ts'
import { movedBy } from '../../src/test-clock.ts'
import { tour } from '../support/flows.ts'
import { cure, poison } from '../support/ledger.ts'
import { type Asked, Tenant } from '../support/tenant.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'
import { World } from '../support/world.ts'

/** Rules notice what is wrong, and receivers are sent a signed message until it arrives. */

const worlds: World[] = []
const receivers: WebhookReceiver[] = []
afterAll(async () => {
  for (const receiver of receivers) await receiver.close()
  for (const world of worlds) await world.close()
})

async function house() {
  const world = new World()
  worlds.push(world)
  const tenant = await Tenant.of(world)
  tenant.limit({ health: 1e6, manage: 1e6, events: 1e6 })
  const credential = await tenant.managementToken('settings:write', 'analytics:read')
  const ask = (what: string, requested: Asked = {}) =>
    tenant.answer(what, { credential, ...requested })
  const faults: unknown[] = []
  const watch = alertWatch({
    ...{ clock: world.clock, stores: world.stores, management: world.management },
    outside: () => world.outside,
    onError: error => faults.push(error),
  })
  const mails: Mail[] = []
  world.outside = {
    ...world.outside,
    async mail(mail) {
      mails.push(mail)
      return { status: 250 }
    },
  }
  const receiver = new WebhookReceiver()
  receivers.push(receiver)
  const { body } = await ask('POST /manage/webhooks', { body: { url: receiver.url } })
  /** Checks the given number of times, five minutes apart, and sends what is due after each check. */
  const check = async (times = 1) => {
    for (let i = 0; i < times; i++) {
      await watch.check()
      await watch.sendDue()
      world.clock.advance(watch.everyMs)
    }
    expect(faults).toEqual([])
  }
  const set = (settings: object) =>
    ask('PATCH /manage/alerts/settings', { body: settings }).then(({ status }) => {
      expect(status).toBe(200)
    })
  const types = () => receiver.received.map(({ message }) => message.type)
  const webhook = async () => (await ask('GET /manage/webhooks')).body.webhooks[0]
  const deliveries = async () =>
    (await ask(`GET /manage/webhooks/${body.id}/deliveries`)).body.deliveries
  return {
    ...{ world, tenant, ask, watch, receiver, check, set, types, webhook, deliveries, mails },
    ...{ id: body.id as string, secret: body.secret as string },
  }
}

describe('a step that has lost its element', () => {
  test('is reported once, with where to check, and again once it is found', async () => {
    const { tenant, ask, check, set, receiver, types, secret } = await house()
    const target = { selector: '#search' }
    const { steps } = tenant.publish(
      tour({ key: 'welcome', steps: [{ key: 'find', title: 'F', target }] }),
    )
    const report = (outcome: string) =>
      Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          tenant.answer(`POST /steps/${steps[0]!.id}/health`, {
            body: { outcome, userId: `person-${i}` },
          }),
        ),
      )
    await report('not_found')
    await check(3)
    expect([types(), (await ask('GET /manage/alerts')).body]).toMatchObject([
      [],
      { isWatching: false, alerts: [] },
    ])

    await set({ rules: { stepBroken: { on: true } } })
    await check(3)
    expect(types()).toEqual(['step.broken'])
    const [got] = receiver.received
    // The library reads the system clock.
    setSystemTime(Number(got!.headers.get('webhook-timestamp')) * 1_000 - movedBy)
    WebhookReceiver.verify(got!, secret)
    setSystemTime()
    expect(got!.message.data).toMatchObject({
      organisation: tenant.organisation.slug,
      subject: 'welcome/find',
      message: 'Step "find" of flow "welcome" is broken: 0 % of people find its element.',
      facts: { flow: 'welcome', step: 'find', state: 'broken', okRate: 0, selector: '#search' },
      url: `https://cairn.example.com/dashboard/${tenant.organisation.slug}/flows/welcome/health`,
    })
    expect(got!.text).not.toContain('person-')
    expect(got!.text).not.toContain('whsec_')
    expect(got!.text.length).toBeLessThan(4_096)
    expect((await ask('GET /manage/alerts')).body).toMatchObject({
      isWatching: true,
      alerts: [{ rule: 'step.broken', state: 'open', page: 'flows/welcome/health' }],
    })

    await report('found')
    await check(3)
    expect(types()).toEqual(['step.broken', 'step.recovered'])
    expect((await ask('GET /manage/alerts')).body.alerts).toMatchObject([{ state: 'resolved' }])
    const audit = (await ask('GET /manage/audit')).body.lines
    expect(audit.slice(0, 2).map(({ action }: { action: string }) => action)).toEqual([
      'alerts.change',
      'webhook.create',
    ])
    expect(JSON.stringify(audit)).not.toContain('whsec_')
  })
})

test('completion that falls week on week is reported, with both weeks', async () => {
  const { world, tenant, check, set, types, receiver } = await house()
  const flow = tenant.publish(tour({ key: 'welcome' }))
  let made = 0
  const runs = async (count: number, completed: number, daysAgo: number) => {
    const at = world.clock.now() - daysAgo * dayMs
    const events = Array.from({ length: count }, (_, i) => {
      const event = (kind: string, seconds: number) => ({
        ...{ kind, flowId: flow.id, userId: `p${++made}`, runId: `run ${daysAgo} ${i}` },
        occurredAt: new Date(at + seconds * 1_000).toISOString(),
      })
      return [event('flow_started', 0), ...(i < completed ? [event('flow_completed', 9)] : [])]
    }).flat()
    for (let i = 0; i < events.length; i += 50) {
      const answer = await tenant.answer('POST /events', {
        body: { events: events.slice(i, i + 50) },
      })
      expect(answer.status).toBe(202)
    }
  }
  await runs(100, 60, 11)
  await runs(100, 30, 4)
  await set({ rules: { completionFell: { on: true } } })
  await check(2)
  expect(types()).toEqual(['completion.fell'])
  expect(receiver.received[0]!.message.data).toMatchObject({
    message:
      'Completion of flow "welcome" fell from 60 % to 30 % week over week (100 and 100 runs).',
    facts: { rate: 0.3, rateBefore: 0.6 },
  })
})

test('an install that goes stale is reported, and so are dead letters', async () => {
  const { world, tenant, ask, check, set, types } = await house()
  await tenant.answer('GET /heartbeat')
  await set({ rules: { installStale: { on: true }, deadLetters: { on: true } } })
  world.clock.advance(23 * hourMs)
  await check(2)
  expect(types()).toEqual([])
  world.clock.advance(hourMs)
  await check(2)
  expect(types()).toEqual(['install.stale'])
  await tenant.answer('GET /heartbeat')
  poison(world.database, 'bad')
  await tenant.answer('POST /events', {
    body: { events: [{ id: 'bad', kind: 'custom', name: 'x', userId: 'ann' }] },
  })
  cure(world.database)
  await check(2)
  expect(types()).toEqual(['install.stale', 'dead_letters.found', 'install.recovered'])
  await set({ rules: { deadLetters: { on: false } } })
  await check(1)
  expect(types()).toHaveLength(3)
  const { alerts } = (await ask('GET /manage/alerts')).body
  expect(alerts.map(({ state }: { state: string }) => state)).toEqual(['resolved', 'resolved'])
})

describe('a receiver that fails', () => {
  test('is sent the same message again on schedule, then the next ones; replay sends it again', async () => {
    const { world, ask, watch, receiver, secret, deliveries, webhook, id } = await house()
    receiver.answer = () => new Response(null, { status: 503 })
    await ask('POST /manage/alerts/report', { body: { send: true } })
    for (const pause of [0, 6_000, 6 * minuteMs]) {
      world.clock.advance(pause)
      await watch.sendDue()
    }
    await watch.sendDue()
    expect(receiver.received).toHaveLength(3)
    expect(new Set(receiver.received.map(({ id, text }) => id + text)).size).toBe(1)
    const times = receiver.received.map(({ headers }) => headers.get('webhook-timestamp'))
    expect(new Set(times).size).toBe(3)
    expect(await webhook()).toMatchObject({ failingSince: expect.any(String), disabledAt: null })
    const findings = async () => (await ask('GET /manage/alerts')).body.findings
    expect(await findings()).toEqual([])
    world.clock.advance(hourMs)
    expect(await findings()).toMatchObject([{ code: 'webhook_failing', webhook: id }])

    receiver.answer = () => new Response(null, { status: 204 })
    await watch.sendDue()
    expect((await deliveries())[0]).toMatchObject({ state: 'delivered', attempts: 4, status: 204 })
    expect((await webhook()).failingSince).toBeNull()
    const [{ id: message }] = await deliveries()
    const replayed = await ask(`POST /manage/webhooks/${id}/deliveries/${message}/replay`)
    expect([replayed.status, replayed.body.state]).toEqual([202, 'pending'])
    await watch.sendDue()
    expect(receiver.received.at(-1)!.id).toBe(message)
    expect(receiver.received).toHaveLength(5)
    expect(secret).toStartWith('whsec_')

    world.clock.advance(7 * dayMs + hourMs)
    await watch.check()
    expect(await deliveries()).toEqual([])
    const late = await ask(`POST /manage/webhooks/${id}/deliveries/${message}/replay`)
    expect([late.status, late.body.code]).toEqual([404, 'delivery_not_found'])
  })

  test('for five days is disabled, with a finding, until somebody enables it', async () => {
    const { world, ask, watch, receiver, webhook, id } = await house()
    receiver.answer = () => new Response(null, { status: 500 })
    const report = () => ask('POST /manage/alerts/report', { body: { send: true } })
    for (let day = 0; day < 7 && (await webhook()).disabledAt === null; day++) {
      await report()
      await watch.sendDue()
      world.clock.advance(dayMs)
    }
    expect(await webhook()).toMatchObject({ disabledWhy: 'failing' })
    const [finding] = (await ask('GET /manage/alerts')).body.findings
    expect(finding).toMatchObject({ code: 'webhook_disabled', webhook: id })
    const before = receiver.received.length
    expect((await report()).body.sentTo).toBe(0)
    world.clock.advance(dayMs)
    await watch.sendDue()
    expect(receiver.received).toHaveLength(before)
    await ask(`PATCH /manage/webhooks/${id}`, { body: { on: true } })
    receiver.answer = () => new Response(null, { status: 204 })
    expect((await report()).body.sentTo).toBe(1)
    await watch.sendDue()
    expect(receiver.received).toHaveLength(before + 1)
  })
})

test('the weekly report comes once, on Mondays at eight in the organisation’s zone', async () => {
  const { world, ask, check, set, types } = await house()
  // It is a Friday. Monday at eight in Berlin is seven in UTC.
  await ask('PATCH /manage/settings', { body: { timezone: 'Europe/Berlin' } })
  await set({ report: { on: true } })
  await check(1)
  world.clock.moveTo(Date.UTC(2026, 10, 23, 6, 50))
  await check(2)
  expect(types()).toEqual([])
  await check(3)
  expect(types()).toEqual(['report.weekly'])
  world.clock.advance(7 * dayMs)
  await check(2)
  expect(types()).toEqual(['report.weekly', 'report.weekly'])
})

describe('a mail address', () => {
  const team = 'team@example.com'
  const linkIn = ({ text }: Mail, action: string) => {
    const [link = ''] =
      text.match(new RegExp(`https://cairn.example.com/mail/${action}/\\S+`)) ?? []
    expect(link).not.toBe('')
    return link
  }
  const open = async (world: World, method: string, link: string) => {
    // As behind a proxy that ends TLS.
    const url = link.replace('https:', 'http:')
    const response = await world.app.handle(new Request(url, { method }))
    return [response.status, (await response.text()).match(/<h1>(.*)<\/h1>/)?.[1]]
  }
  const stateOf = async ({ ask }: Awaited<ReturnType<typeof house>>) =>
    (await ask('GET /manage/alerts/settings')).body.report.recipients[0]?.state

  test('gets nothing but one confirmation until its reader confirms, and nothing once they unsubscribe', async () => {
    const own = await house()
    const { world, ask, watch, set, check, mails } = own
    const report = () => ask('POST /manage/alerts/report', { body: { send: true } })
    const sent = async () => {
      await watch.sendDue()
      return mails.splice(0)
    }
    await set({ report: { on: true, mails: [team] } })
    const [asking, ...others] = await sent()
    expect([asking!.to, asking!.subject, others]).toEqual([
      ...[team, `Confirm that you want mail about ${own.tenant.organisation.name}`, []],
    ])
    world.clock.moveTo(Date.UTC(2026, 10, 23, 9))
    await check(2)
    expect([(await report()).body.sentTo, await sent()]).toEqual([1, []])

    const link = linkIn(asking!, 'confirm')
    // Programs that check mails open every link.
    for (const method of ['GET', 'HEAD']) await open(world, method, link)
    expect(await stateOf(own)).toBe('waiting')
    expect(await open(world, 'POST', `${link.slice(0, -1)}-`)).toEqual([
      404,
      'Link invalid or expired',
    ])
    for (let i = 0; i < 2; i++) expect(await open(world, 'POST', link)).toEqual([200, 'Confirmed'])
    expect(await stateOf(own)).toBe('confirmed')
    const again = await ask('POST /manage/alerts/confirmations', { body: { mail: team } })
    expect([again.status, again.body.code]).toEqual([422, 'validation_failed'])

    world.clock.advance(hourMs)
    await report()
    const [weekly] = await sent()
    const unsubscribe = linkIn(weekly!, 'unsubscribe')
    expect(weekly!.unsubscribe).toBe(unsubscribe)
    const [stored] = (await ask('GET /manage/alerts/mails')).body.deliveries
    await open(world, 'GET', unsubscribe)
    expect(await stateOf(own)).toBe('confirmed')
    expect(await open(world, 'POST', unsubscribe)).toEqual([200, 'Unsubscribed'])
    expect(await stateOf(own)).toBeUndefined()

    world.clock.advance(dayMs)
    await report()
    expect(await sent()).toEqual([])
    for (const old of [link, unsubscribe]) expect((await open(world, 'POST', old))[0]).toBe(404)
    await set({ report: { mails: [team] } })
    await report()
    expect((await sent()).map(({ subject }) => subject)).toEqual([asking!.subject])
    expect(await stateOf(own)).toBe('waiting')
    const { lines } = (await ask('GET /manage/audit')).body
    expect(lines.map(({ action, via }: Record<string, string>) => `${action} ${via}`)).toEqual(
      expect.arrayContaining([
        'alerts.confirm mail',
        'alerts.unsubscribe mail',
        'alerts.send token',
      ]),
    )
    expect(JSON.stringify([lines, stored])).not.toContain('/mail/')
  })

  test('gets alerts by the names of flow and question once its owner wants that, and when they are over', async () => {
    const own = await house()
    const { world, tenant, set, check, mails } = own
    const question = { type: 'rating', scale: 'nps' } as const
    const flow = tenant.publish({
      ...{ key: 'nps', name: 'Customer happiness' },
      steps: [{ key: 'score', title: 'Would you recommend us?', question }],
    })
    let person = 0
    const answers = async (score: number) => {
      const events = Array.from({ length: 20 }, () => {
        const id = `p${person++}`
        const of = { userId: id, runId: id, flowId: flow.id }
        return [
          { ...of, kind: 'flow_started' },
          {
            ...{ ...of, kind: 'question_answered', stepId: flow.steps[0]!.id },
            properties: { answer: score },
          },
        ]
      }).flat()
      expect((await tenant.send(events)).status).toBe(202)
    }
    await set({ rules: { scoreLow: { on: true } }, report: { mails: [team] } })
    await own.watch.sendDue()
    await open(world, 'POST', linkIn(mails.splice(0)[0]!, 'confirm'))
    await answers(3)
    await check()
    expect(mails).toEqual([])

    await set({ rules: { scoreLow: { on: false } }, report: { alerts: true } })
    await check()
    await set({ rules: { scoreLow: { on: true } } })
    world.clock.advance(hourMs)
    await check()
    const [low, ...others] = mails.splice(0)
    expect(others).toEqual([])
    const { name, slug } = tenant.organisation
    expect(low!.subject).toStartWith(`${name} on Cairn: `)
    expect(low!.text).toContain('"Would you recommend us?" of flow "Customer happiness" is -100')
    expect(low!.text).toContain(`https://cairn.example.com/dashboard/${slug}/flows/nps`)
    expect(low!.unsubscribe).toBe(linkIn(low!, 'unsubscribe'))

    await answers(10)
    await answers(10)
    world.clock.advance(hourMs)
    await check()
    const [over] = mails.splice(0)
    expect(over!.text).toContain('Resolved: ')
    expect((await open(world, 'POST', low!.unsubscribe!))[0]).toBe(200)
    await answers(0)
    await answers(0)
    world.clock.advance(hourMs)
    await check()
    expect(mails).toEqual([])
  })

  test('has a link of its own, which works for 7 days and ends with the next one', async () => {
    const own = await house()
    const { world, ask, watch, set, mails } = own
    await set({ report: { mails: [team, 'other@example.com'] } })
    await watch.sendDue()
    world.clock.advance(hourMs)
    await ask('POST /manage/alerts/confirmations', { body: { mail: team } })
    await watch.sendDue()
    const [first, other, second] = mails.map(mail => linkIn(mail, 'confirm'))
    const stranger = await Tenant.of(world)
    const foreign = second!.replace(own.tenant.organisation.id, stranger.organisation.id)
    const wrong = [first!, foreign, second!.replace('/confirm/', '/unsubscribe/'), `${second}x`]
    for (const link of wrong) expect((await open(world, 'POST', link))[0]).toBe(404)
    world.clock.advance(7 * dayMs - 1)
    expect(await open(world, 'POST', other!)).toEqual([404, 'Link invalid or expired'])
    expect(await stateOf(own)).toBe('waiting')
    expect(await open(world, 'POST', second!)).toEqual([200, 'Confirmed'])
    world.clock.advance(1)
    expect(await open(world, 'GET', second!)).toEqual([200, 'Confirmed'])
  })

  test.each([
    ['Harbor & <Sons>', true],
    ['https://spam.example', false],
    ['buy at spam.example', false],
    ['x'.repeat(61), false],
  ])('is told the name of the organisation unless it could be a link: %s', (name, isTold) => {
    const organisation = { name, slug: 'harbor' }
    const mail = confirmationMail(organisation, '')
    const text = mail.text + mail.subject
    expect([text.includes(name), text.includes('harbor')]).toEqual([isTold, !isTold])
  })

  test('is not asked where no mail server is set', async () => {
    const own = await house()
    own.world.outside = { ...own.world.outside, mail: null }
    await own.set({ report: { mails: [team] } })
    const settings = (await own.ask('GET /manage/alerts/settings')).body
    expect(settings).toMatchObject({
      ...{ sendsMail: false },
      report: { recipients: [{ mail: team, state: 'waiting', confirmationSentAt: null }] },
    })
    const requested = await own.ask('POST /manage/alerts/confirmations', { body: { mail: team } })
    expect([requested.status, requested.body.details[0].message]).toEqual([
      422,
      expect.stringContaining('CAIRN_PUBLIC_URL'),
    ])
    expect((await own.ask('GET /manage/alerts/mails')).body.deliveries).toEqual([])
  })
})

describe('messages on demand are bounded', () => {
  type House = Awaited<ReturnType<typeof house>>
  const confirmations =
    (mails: string[]) =>
    ({ ask }: House) =>
      ask('PATCH /manage/alerts/settings', { body: { report: { mails } } })

  /** What an owner does again and again, a pause apart, and how often it succeeds. */
  test.each<[string, number, number, (house: House, time: number) => Promise<{ status: number }>]>([
    [
      'an address that is removed and added',
      ...([minuteMs, 3] as const),
      async (house, time) => {
        await confirmations([])(house)
        return confirmations([`Team+${time}@Example.com`])(house)
      },
    ],
    [
      'the same over days',
      ...([2.5 * hourMs, 3] as const),
      async house => {
        await confirmations([])(house)
        return confirmations(['team@example.com'])(house)
      },
    ],
    [
      'ever new addresses',
      ...([minuteMs, 20] as const),
      (house, time) => confirmations([`person-${time}@example.com`])(house),
    ],
    [
      'tests of a webhook that is removed and added',
      ...([1_000, 300] as const),
      async ({ ask, receiver }) => {
        const { body } = await ask('POST /manage/webhooks', { body: { url: receiver.url } })
        const tested = await ask(`POST /manage/webhooks/${body.id}/test`)
        await ask(`DELETE /manage/webhooks/${body.id}`)
        return tested
      },
    ],
    [
      'reports to webhooks',
      ...([1_000, 300] as const),
      ({ ask }) => ask('POST /manage/alerts/report', { body: { send: true } }),
    ],
  ])('for %s', async (_, pauseMs, allowed, send) => {
    const own = await house()
    let sent = 0
    for (let time = 0; time < Math.max(65, allowed + 5); time++) {
      const { status } = await send(own, time)
      if (status < 300) sent++
      own.world.clock.advance(pauseMs)
    }
    expect(sent).toBe(allowed)
  })

  test('and the error says when the next is possible, and nothing is changed', async () => {
    const { ask, set, world, watch, mails } = await house()
    await set({ report: { mails: ['a@example.com'] } })
    const again = () =>
      ask('POST /manage/alerts/confirmations', { body: { mail: 'a@example.com' } })
    for (let i = 0; i < 2; i++) expect((await again()).status).toBe(200)
    world.clock.advance(6.5 * dayMs)
    const rejected = await again()
    expect([rejected.status, rejected.body]).toEqual([
      409,
      {
        code: 'sent_too_often',
        error:
          'a@example.com: You can send at most 3 confirmations a week to one address. Try again in 12 hours',
      },
    ])
    world.clock.advance(0.5 * dayMs)
    expect((await again()).status).toBe(200)
    await watch.sendDue()
    expect(mails).toHaveLength(1)
  })
})
