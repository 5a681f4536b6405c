import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { until } from '../../../../scripts/support/until.ts'
import type { NewEvent } from '../../../../src/core/event/event.ts'
import { rebuild } from '../../../../src/storage/sqlite/projections/rebuild.ts'
import { HandClock } from '../../../support/hand-clock.ts'
import { autumnAnchor, type History, lifeArbitrary, reach } from '../../../support/histories.ts'
import { NodeWorld } from '../../../support/node-world.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'
import { comparableRows } from '../../../support/replicated.ts'
import { rounds } from '../../../support/rounds.ts'
import type { Store } from '../../conformance/store.ts'
import { definitionOf, Tenant } from '../../conformance/tenant.ts'

const day = 86_400_000

type Act =
  | { type: 'send'; size: number }
  | { type: 'again'; event: number }
  | { type: 'tick'; person: number; item: number; completed: boolean }
  | { type: 'complete'; person: number; daysAgo: number }
  | { type: 'held out' | 'erase'; person: number }
  | { type: 'health'; person: number; outcome: 'found' | 'not_found' }
  | { type: 'delete'; days: number; isOwn: boolean }
  | { type: 'follow' | 'publish' | 'rebuild' | 'seal' | 'snapshot' | 'other' }

const person = fc.nat({ max: 5 })
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('send' as const),
      size: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('again' as const), event: fc.nat({ max: 59 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ type: fc.constant('tick' as const), person },
      ...{ item: fc.nat({ max: 2 }), completed: fc.boolean() },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ type: fc.constant('complete' as const), person, daysAgo: fc.nat({ max: 3 }) },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('held out' as const), person }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ type: fc.constant('health' as const), person },
      outcome: fc.constantFrom('found', 'not_found'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('delete' as const),
      days: fc.integer({ min: 1, max: 12 }),
      isOwn: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('erase' as const), person }) },
  {
    weight: 8,
    arbitrary: fc
      .constantFrom('follow', 'follow', 'other', 'other', 'publish', 'seal', 'snapshot', 'rebuild')
      .map(type => ({ type }) as Act),
  },
)

const users = ['ann', 'Bob', 'uann', '\u{1f600}', '\uff5e']
const personOf = (number: number) =>
  number < users.length
    ? { userId: users[number]!, anonymousId: null }
    : { userId: null, anonymousId: 'ann' }
const nameOf = ({ userId, anonymousId }: ReturnType<typeof personOf>) =>
  userId === null ? `a${anonymousId}` : `u${userId}`

/** It is measured against people who are held back, and waits for an event. */
const measured = definitionOf({
  ...{ key: 'measured', rollout: { holdOut: 10 }, goal: { event: 'profile_saved' } },
  ...{ when: { event: 'invite_sent', count: 2 }, steps: [{ key: 'one', title: 'One' }] },
})

/** One machine's clock, which the log's other machines need not agree with. */
class Machine {
  readonly clock: HandClock
  node!: NodeWorld

  constructor(
    private readonly offsetMs: number,
    at: number,
  ) {
    this.clock = new HandClock(at + offsetMs)
  }

  moveTo(at: number): void {
    this.clock.moveTo(at + this.offsetMs)
  }
}

/** Two machines over a log, of which either is asked, and the second only takes up what it must. */
class Life {
  private asked = 0
  private sent = 0
  private at = autumnAnchor - reach
  private tenant!: Tenant
  private readonly erased = new Set<string>()
  /** Directories that were filled from a snapshot on the way, and followed no further. */
  readonly halfway: string[] = []
  private readonly items: string[]

  private constructor(
    private readonly url: string,
    private readonly history: History,
    private readonly order: readonly number[],
    readonly machines: readonly Machine[],
  ) {
    const { versions } = history.flows.find(({ key }) => key === 'welcome')!
    this.items = [...new Set(versions.flatMap(({ items }) => items.map(({ key }) => key)))]
  }

  static async of(url: string, history: History, order: readonly number[]): Promise<Life> {
    const start = autumnAnchor - 2 * reach
    const machines = [new Machine(0, start), new Machine(-180_000, start)]
    for (const [i, machine] of machines.entries()) {
      machine.node = await NodeWorld.open(url, machine.clock, { follows: i === 0 })
    }
    const life = new Life(url, history, order, machines)
    await life.withAllFollowing(async () => {
      life.tenant = await Tenant.withFlows(life.store, history.flows)
      await life.tenant.publish(measured)
    })
    return life
  }

  private get world() {
    return this.machines[this.asked]!.node.world
  }

  private get store(): Store {
    const moveTo = (at: number) => this.moveTo(at)
    const life = this
    return {
      get stores() {
        return life.world.stores
      },
      get management() {
        return life.world.management
      },
      clock: Object.assign(Object.create(this.machines[0]!.clock), { moveTo }),
    } as unknown as Store
  }

  private moveTo(at: number): void {
    for (const machine of this.machines) machine.moveTo(at)
  }

  async live(act: Act): Promise<void> {
    this.at += day / 2
    const receivedAt = this.at
    switch (act.type) {
      case 'send': {
        const next = this.order.slice(this.sent, this.sent + act.size)
        this.sent += act.size
        return this.append(next)
      }
      case 'again':
        return this.append(this.order.slice(0, this.sent).slice(act.event, act.event + 1))
      case 'tick': {
        const item = this.items[act.item % Math.max(1, this.items.length)]
        if (item === undefined) return
        const items = { [item]: act.completed }
        await this.tenant.tick('welcome', personOf(act.person), items, { receivedAt })
        return
      }
      case 'complete': {
        const at = this.at - act.daysAgo * day
        await this.tenant.complete('welcome', personOf(act.person), { at, receivedAt })
        return
      }
      case 'held out': {
        const kind = 'flow_held_out' as const
        const about = { kind, flowKey: 'measured', flowVersion: 1, at: this.at }
        const held = this.tenant.event(`held-${this.at}`, about)
        await this.tenant.append([{ ...held, ...personOf(act.person) }], { receivedAt })
        return
      }
      case 'health':
        await this.world.stores.steps.recordHealth({
          ...{ orgRef: this.tenant.ref, stepRef: this.tenant.stepRef('measured', 'one') },
          ...{
            version: 1,
            outcome: act.outcome,
            person: nameOf(personOf(act.person)),
            at: this.at,
          },
          ...{ url: null, selector: null, matchCount: null, waitMs: null, snippetVersion: null },
          message: null,
        } as never)
        return
      case 'delete':
        this.moveTo(this.at + 1)
        if (act.isOwn) await this.withAllFollowing(() => this.keepOwn(act.days))
        for (const { node } of act.isOwn ? [] : this.machines) {
          node.world.storage.housekeeping.retentionDays = act.days
        }
        return this.machines[0]!.node.world.retainAll()
      case 'erase': {
        const name = nameOf(personOf(act.person))
        this.erased.add(name)
        await this.withAllFollowing(() => this.tenant.erase(name))
        return
      }
      case 'publish':
        this.moveTo(this.at)
        return this.withAllFollowing(() => this.tenant.publish(measured))
      case 'rebuild':
        return this.withAllFollowing(async () => {
          const audit = { at: this.at, actor: { via: 'command line', name: '', requestId: null } }
          const { changed } = await this.world.management.operations.rebuild(
            { ...audit, action: 'rebuild', subject: '', note: null } as never,
            () => {},
          )
          expect(changed).toBe(0)
        })
      case 'seal':
        for (const { node } of this.machines) await node.world.makeBlocks()
        return
      case 'snapshot': {
        const { node } = this.machines[0]!
        await node.world.storage.follow()
        await node.world.storage.together!.snapshots.make()
        if (this.halfway.length === 0) await this.fillOne()
        return
      }
      case 'follow':
        return this.machines[1]!.node.world.storage.follow()
      case 'other':
        this.asked = 1 - this.asked
    }
  }

  /** Gives the organisation a period of its own. */
  private async keepOwn(retentionDays: number): Promise<void> {
    const { organisations } = this.world.management
    const { revision } = await organisations.read(this.tenant.ref, this.at)
    const settings = { retentionDays }
    await organisations.change(this.tenant.ref, { revision, settings, audit: [] })
  }

  /** Lets the clocks get past everything that was received, and past the hour for which a start may doubt them. */
  end(): void {
    this.moveTo(this.at + day)
  }

  /** Fills an empty directory, and leaves it alone then. */
  private async fillOne(): Promise<void> {
    const dataDir = mkdtempSync(join(tmpdir(), 'cairn-test-'))
    this.halfway.push(dataDir)
    const filled = await NodeWorld.open(this.url, this.machines[0]!.clock, {
      ...{ dataDir, follows: false, isCounted: false },
    })
    await filled.stop()
  }

  /** A change of what management keeps waits for machines that run. */
  private async withAllFollowing(work: () => Promise<unknown>): Promise<void> {
    const follow = () => this.machines[1]!.node.world.storage.follow()
    const timer = setInterval(follow, 10)
    try {
      await work()
    } finally {
      clearInterval(timer)
    }
  }

  private async append(places: readonly number[]): Promise<void> {
    const events = places
      .map((i): NewEvent => this.tenant.event(`event-${i}`, this.history.events[i]!))
      .map(event => ({ ...event, properties: JSON.stringify({ answer: event.userId }) }))
    if (events.length === 0) return
    this.at = Math.max(this.at, ...events.map(({ occurredAt }) => occurredAt))
    await this.tenant.append(events, { receivedAt: this.at })
  }
}

describe('over a log', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  afterAll(() => server?.close())

  const numRuns = Number(process.env.CAIRN_TEST_HISTORIES ?? rounds(20))

  test('law: databases that took the log up in different portions hold the same', async () => {
    await fc.assert(
      fc.asyncProperty(lifeArbitrary(act), async ({ history, acts, order }) => {
        const url = await server.newDatabase()
        const [late, empty] = ['late', 'empty'].map(() =>
          mkdtempSync(join(tmpdir(), 'cairn-test-')),
        )
        const life = await Life.of(url, history, order)
        const { clock } = life.machines[0]!
        await (
          await NodeWorld.open(url, clock, { dataDir: late!, follows: false, isCounted: false })
        ).stop()
        for (const act of acts) await life.live(act)

        const nodes = life.machines.map(({ node }) => node)
        for (const dataDir of [late!, empty!, ...life.halfway]) {
          nodes.push(
            await NodeWorld.open(url, clock, { dataDir, follows: false, isCounted: false }),
          )
        }
        life.end()
        for (const { world } of nodes) {
          await world.storage.follow()
          await world.makeBlocks()
        }
        const [first, ...others] = nodes
        await first!.world.retainAll()

        for (const node of others) {
          // A follow that fails because the machine is busy is tried again.
          await until(async () => {
            await node.world.storage.follow()
            return node.seq >= first!.seq
          })
          await node.world.retainAll()
        }
        const [expected, ...found] = comparableRows(nodes.map(({ world }) => world.database))
        others.forEach((node, at) => {
          expect(node.seq).toBe(first!.seq)
          expect(found[at]).toEqual(expected!)
        })
        for (const { world } of nodes) expect(rebuild(world.database).changed).toBe(0)
        for (const node of nodes.toReversed()) {
          await node.stop()
          rmSync(node.world.dataDir, { recursive: true })
        }
      }),
      // To shrink a history takes minutes, and the messages name the table.
      { numRuns, endOnFailure: true },
    )
  }, 600_000)
})
