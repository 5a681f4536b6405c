import { afterAll, beforeAll } from 'bun:test'
import type { ManagementStores, Stores } from '../../src/app.ts'
import { conformance } from '../storage/conformance/conformance.ts'
import { defaultRounds, type Rounds, type Store } from '../storage/conformance/store.ts'
import { textsIn } from '../support/erasing.ts'
import { HandClock } from '../support/hand-clock.ts'
import { cure, poison } from '../support/ledger.ts'
import { NodeWorld } from '../support/node-world.ts'
import { describe, PostgresServer } from '../support/postgres.ts'
import type { World } from '../support/world.ts'

/** Which node is called: each in turn, but the same one for calls at once, because their order is up to it. */
class Turns {
  private calls = 0
  private open = 0

  constructor(public nodes: number) {}

  async ask<T>(call: (node: number) => T): Promise<Awaited<T>> {
    if (this.open++ === 0) this.calls++
    try {
      return await call(this.calls % this.nodes)
    } finally {
      this.open--
    }
  }

  get next(): number {
    return this.calls++ % this.nodes
  }
}

/** Methods that answer at once, or with one after the other. */
const atOnce = new Set([
  'requireRoom',
  'mark',
  'reserveBeat',
  'countUserHashes',
  'isWatched',
  'note',
])
const inSeries = new Set(['runs', 'answers', 'events', 'columns'])

/** What one node at a time does, or what each has for itself. */
const own: ReadonlySet<unknown> = new Set(['presence', 'alerts', 'watch', 'activity'])

/** A port whose methods are called on one node after the other. */
function inTurn<Port extends object>(
  ports: () => readonly Port[],
  turns: Turns,
  isOwn: boolean,
): Port {
  const [one] = ports()
  return new Proxy(one!, {
    get(_, name) {
      const call = (node: number, args: unknown[]) => {
        const port = ports()[node]!
        return (port[name as keyof Port] as (...args: unknown[]) => unknown)(...args)
      }
      if (typeof one![name as keyof Port] !== 'function') return one![name as keyof Port]
      // A version, and what is seen of pages, is each node's own.
      if (isOwn || name === 'version') return (...args: unknown[]) => call(0, args)
      // What is only noted in passing is written by each node.
      if (name === 'write') return () => Promise.all(ports().map((_, node) => call(node, [])))
      if (atOnce.has(String(name))) return (...args: unknown[]) => call(turns.next, args)
      return (...args: unknown[]) => {
        const isIterable = name === 'people' || (inSeries.has(String(name)) && 'experiment' in one!)
        if (isIterable) return call(turns.next, args)
        return turns.ask(node => call(node, args))
      }
    },
  })
}

describe('over a log', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.open()
  })
  afterAll(() => server?.close())

  // A case takes hundreds of round trips.
  const rounds: Rounds = usual => defaultRounds(Math.ceil(usual / 8))

  const open = async (): Promise<Store> => {
    const url = await server.newDatabase()
    const clock = new HandClock()
    let nodes: NodeWorld[] = []
    // The suite moves its clock back between histories, which the time of a log never does.
    clock.moveTo = ms => {
      HandClock.prototype.moveTo.call(clock, ms)
      for (const { world } of nodes) world.storage.replica!.position.at = 0
    }
    nodes = [await NodeWorld.open(url, clock), await NodeWorld.open(url, clock)]
    const turns = new Turns(2)
    const each = <Ports extends object>(portsOf: (world: World) => Ports): Ports => {
      const names = Object.keys(portsOf(nodes[0]!.world)) as (keyof Ports)[]
      return Object.fromEntries(
        names.map(name => [
          name,
          inTurn(
            () => nodes.map(({ world }) => portsOf(world)[name] as object),
            turns,
            own.has(name),
          ),
        ]),
      ) as Ports
    }
    const all = (work: (world: World) => Promise<unknown>) =>
      Promise.all(nodes.map(({ world }) => work(world)))
    return {
      clock,
      alone() {
        turns.nodes = 1
      },
      get stores() {
        const ports = each<Omit<Stores, 'catalogue'>>(
          ({ stores: { catalogue: _, ...rest } }) => rest,
        )
        return { ...ports, catalogue: () => nodes[turns.next]!.world.stores.catalogue() } as Stores
      },
      get management() {
        return each<ManagementStores>(({ management }) => management)
      },
      async settle() {
        await all(world => world.makeBlocks())
      },
      async retain(days) {
        for (const { world } of nodes) {
          world.storage.housekeeping.retentionDays = days
          await world.retainAll()
        }
      },
      async refuse(text) {
        for (const { world } of nodes) poison(world.database, text)
        return async () => {
          for (const { world } of nodes) cure(world.database)
        }
      },
      traces: texts => {
        const found = nodes.flatMap(({ world }) => textsIn(world.dataDir, texts))
        return texts.filter(text => found.includes(text))
      },
      async reopen() {
        for (const node of nodes) await node.stop()
        nodes = [
          await NodeWorld.open(url, clock, { dataDir: nodes[0]!.world.dataDir }),
          await NodeWorld.open(url, clock, { dataDir: nodes[1]!.world.dataDir }),
        ]
      },
      async close() {
        for (const node of nodes) await node.close()
      },
    }
  }

  conformance('two nodes', open, rounds)
})
