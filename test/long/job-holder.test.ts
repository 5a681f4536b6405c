import { afterAll, beforeAll, expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import type { DeliveryList } from '../../src/modules/alerts/model.ts'
import { builtBinary, type Server, Workplace } from '../support/binary.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

/** The alerts job, which only one of several nodes does: another takes it over when that node is gone. */
describe('alerts of two nodes', () => {
  let postgres: PostgresServer
  let receiver: WebhookReceiver
  let place: Workplace
  let url: string
  const nodes = new Map<string, Server>()
  beforeAll(async () => {
    postgres = await PostgresServer.open()
    receiver = new WebhookReceiver()
    url = await postgres.newDatabase()
    const env = {
      ...{ CAIRN_DATABASE_URL: url, CAIRN_LIMITS_AWAY: 'share', CAIRN_WEBHOOKS_PRIVATE: 'on' },
    }
    place = new Workplace(builtBinary, undefined, env)
    await place.json(['org', 'create', 'Acme'])
    await place.json(['alerts', 'webhook', 'add', receiver.url])
    await place.json(['alerts', 'set', '--dead-letters', 'on'])
    await Promise.all(['a', 'b'].map(start))
  })
  afterAll(async () => {
    await place?.close()
    await receiver?.close()
    await postgres?.close()
  })

  async function start(name: string): Promise<void> {
    nodes.set(name, await place.serve(['--data', place.path(name)]))
  }
  /** Waits until a node looks after alerts, according to `cairn nodes`, and returns its name. */
  async function holder(): Promise<string> {
    const known = () => place.run(['nodes', '--json'])
    const { stdout } = await until(known, ({ stdout }) => stdout.includes('"alerts"'))
    const seen = JSON.parse(stdout) as { nodes: { name: string; jobs: string[] }[] }
    const [one] = seen.nodes.filter(({ jobs }) => jobs.includes('alerts'))
    return [...nodes].find(([, { url }]) => one!.name.endsWith(`:${new URL(url).port}`))![0]
  }
  /** Kills the node that looks after alerts. The other takes over once `goOn` is called, and not before. */
  async function killHolder(): Promise<{ killed: string; goOn: () => Promise<void> }> {
    const killed = await holder()
    await nodes.get(killed)!.end('SIGKILL')
    const [held] = await postgres.ask<{ holder: string }>(job, url)
    return {
      killed,
      async goOn() {
        const mine = `holder = '${held!.holder}'`
        // As if the time for which it holds the job had run out.
        const expired = await postgres.ask(
          `update jobs set until = clock_timestamp() - interval '1 second'
          where name = 'alerts' and ${mine} returning name`,
          url,
        )
        expect(expired).toHaveLength(1)
      },
    }
  }
  const job = "select holder from jobs where name = 'alerts'"
  const sendReport = () => place.run(['alerts', 'report', '--send'])
  let hours = 24
  /** Makes a node check its alerts until there is a message, because one sighting may be a passing fault. */
  const lookFor = (type: string, name: string) =>
    until(async () => {
      // After a change of the alert settings the node checks soon.
      await place.json(['alerts', 'set', '--hours', `${++hours}`, '--data', name])
      return types().includes(type)
    })
  const types = () => receiver.received.map(({ message }) => message.type)

  test('are sent once, by the other node, if the one that looks after them is killed', async () => {
    const { killed, goOn } = await killHolder()
    // A dead letter that appears while no node checks. An older one would be deleted.
    await postgres.ask(
      `insert into dead_letters (org_id, at, error, event)
      select id, ${Date.now()}, 'refused', '{"kind":"custom","id":"x"}' from organisations`,
      url,
    )
    await sendReport()
    expect(types()).toEqual([])
    await goOn()
    await receiver.at(0)
    const other = await holder()
    expect(other).not.toBe(killed)
    await lookFor('dead_letters.found', other)
    expect(types()).toEqual(['report.weekly', 'dead_letters.found'])
    await start(killed)
  })

  test('that are on their way are sent again under the same id, but to nobody who has them', async () => {
    const before = receiver.received.length
    receiver.answer = () => null
    await sendReport()
    const first = await receiver.at(before)
    const { killed, goOn } = await killHolder()
    receiver.answer = () => new Response(null, { status: 204 })
    await goOn()
    const second = await receiver.at(before + 1)
    expect([second.id, second.text]).toEqual([first.id, first.text])
    const deliveries = () => place.json<DeliveryList['deliveries']>(['alerts', 'deliveries'])
    await until(async () => (await deliveries()).every(({ state }) => state === 'delivered'))
    await start(killed)
  })

  test('are handed over by a node that stops, and not sent again by the next', async () => {
    const before = receiver.received.length
    const stopped = await holder()
    expect(await nodes.get(stopped)!.end()).toBe(0)
    nodes.delete(stopped)
    const next = await holder()
    await postgres.ask('delete from dead_letters', url)
    await lookFor('dead_letters.cleared', next)
    expect(types().slice(before)).toEqual(['dead_letters.cleared'])
    expect(types().filter(type => type === 'dead_letters.found')).toHaveLength(1)
  })
})
