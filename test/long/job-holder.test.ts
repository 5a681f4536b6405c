import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import type { DeliveryList } from '../../src/modules/alerts/schema.ts'
import { apiOf, builtBinary, type Server, Workplace } from '../support/binary.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

/** The alerts job, which only one of several nodes does: another takes it over when that node is gone. */
describe('alerts of two nodes', () => {
  let postgres: PostgresServer
  let receiver: WebhookReceiver
  let place: Workplace
  let url: string
  let snippetKey: string
  const nodes = new Map<string, Server>()
  beforeAll(async () => {
    postgres = await PostgresServer.open()
    receiver = new WebhookReceiver()
    url = await postgres.emptyDatabase()
    const env = { CAIRN_DATABASE_URL: url, CAIRN_WEBHOOKS_PRIVATE: 'on' }
    place = new Workplace(builtBinary, undefined, env)
    ;({ snippetKey } = await place.json(['org', 'create', 'Acme']))
    await place.json(['alerts', 'webhook', 'add', receiver.url])
    await place.json(['alerts', 'set', 'rules.deadLetters.on', 'true'])
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
    const [job] = await postgres.ask<{ holder: string }>(
      "select holder from cairn_jobs where name = 'alerts'",
      url,
    )
    const expired = "clock_timestamp() - interval '1 hour'"
    // Nobody waits for a node that has been gone for so long.
    await postgres.ask(
      `update cairn_nodes set lease_until = ${expired} where id = '${job!.holder}'`,
      url,
    )
    return {
      killed,
      async goOn() {
        // As if the time for which it holds the job had run out.
        const freed = await postgres.ask(
          `update cairn_jobs set until = ${expired}
          where name = 'alerts' and holder = '${job!.holder}' returning name`,
          url,
        )
        expect(freed).toHaveLength(1)
      },
    }
  }
  /** Has a node's database reject an event. */
  async function addDeadLetter(node: string): Promise<void> {
    using database = new Database(place.path(`${node}/cairn.db`), { readwrite: true })
    database.run('pragma busy_timeout = 120000')
    database.run(`create trigger poison before insert on event_batches
      begin select raise(abort, 'poisoned'); end`)
    const event = { id: 'x', kind: 'custom', name: 'x', userId: 'ada' }
    const answer = await apiOf(nodes.get(node)!, snippetKey)('POST', '/events', { events: [event] })
    database.run('drop trigger poison')
    expect(await answer.json()).toMatchObject({ results: [{ code: 'storage' }] })
  }
  const sendReport = () => place.run(['alerts', 'report', '--send'])
  /** Makes a node check its alerts until there is a message. */
  const checkFor = (type: string, name: string) =>
    until(async () => {
      // After a change of the alert settings the node checks soon.
      await place.json(['alerts', 'set', 'rules.deadLetters.on', 'true', '--data', name])
      return types().includes(type)
    })
  const types = () => receiver.received.map(({ message }) => message.type)

  test('are sent once, by the other node, if the one that looks after them is killed', async () => {
    const { killed, goOn } = await killHolder()
    await addDeadLetter(killed === 'a' ? 'b' : 'a')
    await sendReport()
    expect(types()).toEqual([])
    await goOn()
    await receiver.at(0)
    const other = await holder()
    expect(other).not.toBe(killed)
    await checkFor('dead_letters.found', other)
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
    const deliveries = () => place.json<DeliveryList['deliveries']>(['alerts', 'mails'])
    await until(async () => (await deliveries()).every(({ state }) => state === 'delivered'))
    await start(killed)
  })

  test('are handed over by a node that stops, and not sent again by the next', async () => {
    const before = receiver.received.length
    const stopped = await holder()
    expect(await nodes.get(stopped)!.end()).toBe(0)
    nodes.delete(stopped)
    const next = await holder()
    await place.json(['dead-letters', 'drop', '--all'])
    await checkFor('dead_letters.cleared', next)
    expect(types().slice(before)).toEqual(['dead_letters.cleared'])
    expect(types().filter(type => type === 'dead_letters.found')).toHaveLength(1)
  })
})
