import { progress } from '../../report/progress.ts'
import {
  apiOf,
  asForUsers,
  firstFlowOf,
  Workplace,
  withUnlimitedTour,
} from '../../support/binary.ts'
import { cpuMsOf, threadCpuMsOf } from '../../support/process.ts'
import { ownCpuMs, Repeater, type Sent } from '../hostile/repeater.ts'
import { bodiesOf, flowOfGlobs, managedWith, strangers, usualBatch } from '../hostile/stretches.ts'
import { headOf, targetOf } from '../hostile/target.ts'
import { type Entry, type Ledger, none, type Torture } from '../ledger.ts'

/** What a stranger's request may cost, milliseconds. */
const mostMs = 2
/** What somebody with a management token may cost the thread that answers, milliseconds. */
const mostManagedMs = 20
/** How many times the cost of a body may exceed that of merely parsing it as JSON. */
const mostParses = 10

/** How many usual batches can be parsed in `mostMs` on the machine that the bound is for. */
const batchesInMostMs = 125

/**
 * How often each request is sent: often enough to suspect that it is costly, and then to be sure. The short
 * form is one of the tests, which share the machine. There a request may cost `lenience` times as much; a
 * cost that grows with the square of the length is still found.
 */
const forms = {
  short: { look: 5, know: 40, lenience: 3 },
  long: { look: 40, know: 200, lenience: 1 },
}

/** A request that was measured. */
interface Cost {
  what: string
  ms: number
  mostMs: number
}

/** What `mostMs` is on this machine by its speed of parsing; never less, so that no machine has to be faster. */
const slowMostMs = () => {
  const text = usualBatch(0)
  const parse = () => {
    for (let i = 0; i < batchesInMostMs; i++) JSON.parse(text)
  }
  parse()
  return Math.max(mostMs, ownCpuMs(parse))
}

function parseMs(body: string): number {
  const repetitions = Math.ceil(1_000_000 / body.length)
  const parse = () => {
    try {
      for (let i = 0; i < repetitions; i++) JSON.parse(body)
    } catch {
      // A broken body is read up to where it breaks, just once.
    }
  }
  parse()
  return ownCpuMs(parse) / repetitions
}

/** The CPU time of single requests, one part of each made as costly as it can be. */
export async function costs({ isLong }: Torture): Promise<Ledger> {
  const { look, know, lenience } = forms[isLong ? 'long' : 'short']
  await using place = new Workplace()
  const organisation = await withUnlimitedTour(place, 'Dear')
  const server = await place.serve(['--threads', '1', '--log-level', 'error'], asForUsers)
  const target = await targetOf(place, server, organisation)
  const { steps } = await firstFlowOf(apiOf(server, target.snippetKey))
  using repeater = new Repeater(target.port)

  const msOf = async (request: Sent, count: number) => {
    const before = cpuMsOf(server.child.pid)
    await repeater.send(request, count)
    return (cpuMsOf(server.child.pid) - before) / count
  }
  /** Measures again what looks costly, because the code may not have been compiled yet. */
  const costOf = async (request: Sent, most: number) => {
    await repeater.send(request, 3)
    let ms = await msOf(request, look)
    for (let tries = 0; tries < 3 && ms > most / 2; tries++) {
      ms = Math.min(ms, await msOf(request, tries === 0 ? look : know))
    }
    return ms
  }

  const ofStrangers: Cost[] = []
  const strangersMostMs = lenience * slowMostMs()
  for (const { what, request } of strangers) {
    ofStrangers.push({
      what,
      ms: await costOf(request, strangersMostMs),
      mostMs: strangersMostMs,
    })
  }

  const ofBodies: Cost[] = []
  const plains = new Map<string, number>()
  for (const { what, route, request, body, plain } of bodiesOf(target, steps[0]!.id)) {
    if (!plains.has(route)) {
      await repeater.send(plain, know)
      plains.set(route, await msOf(plain, know))
    }
    const own = Math.max(slowMostMs(), mostParses * parseMs(body))
    const most = plains.get(route)! + lenience * own
    ofBodies.push({ what, ms: await costOf(request, most), mostMs: most })
  }

  const scopes = ['flows:read', 'flows:write', 'flows:publish']
  const create = ['token', 'create', 'dear', '--org', organisation.slug, '--scope', ...scopes]
  const { token } = await place.json<{ token: string }>(create)
  const manage = apiOf(server, token)
  const flows = [flowOfGlobs, { key: 'dear', steps: [{ key: 'a', title: 'A' }] }]
  const pushed = await manage('POST', '/manage/push', { flows, publish: true })
  if (pushed.status !== 200) throw new Error(await pushed.text())
  const growthOf = async (work: Promise<unknown>) => {
    const before = threadCpuMsOf(server.child.pid)
    await work
    const after = [...threadCpuMsOf(server.child.pid)]
    return new Map(after.map(([thread, ms]) => [thread, ms - (before.get(thread) ?? 0)]))
  }
  const [answering] = [
    ...(await growthOf(repeater.send(`${headOf('GET /manage/me', token)}\r\n`, 300))),
  ].reduce((most, thread) => (thread[1] > most[1] ? thread : most))
  const ofManagers: Cost[] = []
  const managedMostMs = lenience * Math.max(mostManagedMs, 10 * slowMostMs())
  for (const { what, request } of managedWith(token)) {
    let ms = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < 4 && ms > managedMostMs / 2; tries++) {
      ms = Math.min(ms, (await growthOf(repeater.send(request, 1))).get(answering)!)
    }
    ofManagers.push({ what, ms, mostMs: managedMostMs })
  }
  await server.end()
  return {
    title: 'CPU time of single requests, one part of each as dear as it can be made',
    entries: [
      ...entriesOf('of strangers', `over ${lenience * mostMs} ms`, ofStrangers),
      ...entriesOf(
        'with a snippet key',
        `over ${lenience * mostParses} × JSON.parse and ${lenience * mostMs} ms`,
        ofBodies,
      ),
      ...entriesOf(
        'with a management token, of the thread that answers',
        `over ${lenience * mostManagedMs} ms`,
        ofManagers,
      ),
    ],
    notes: [
      `A usual batch is parsed ${batchesInMostMs} times in ${(strangersMostMs / lenience).toFixed(1)} ms here; where that is more than ${mostMs} ms, so much is allowed${lenience > 1 ? `, and in this short form ${lenience} times that` : ''}. What a request of the same route costs with a small body is left out.`,
    ],
  }
}

function entriesOf(whose: string, bound: string, all: readonly Cost[]): Entry[] {
  const [dearest] = all.toSorted((a, b) => b.ms / b.mostMs - a.ms / a.mostMs)
  const dear = all.filter(({ ms, mostMs }) => ms > mostMs)
  for (const { what, ms, mostMs } of dear) {
    progress(`${what}: ${ms.toFixed(2)} ms, of ${mostMs.toFixed(2)} that it may cost`)
  }
  return [
    {
      what: `the dearest for what it is, of ${all.length} requests ${whose}`,
      value: `${dearest!.what}: ${dearest!.ms.toFixed(2)} ms`,
    },
    none(`of them ${bound}`, dear.length),
  ]
}
