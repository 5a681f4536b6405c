import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { socketFile } from '../../../src/runtime/lock.ts'
import type { NewEvent } from '../../../src/storage/shared/in-rows.ts'
import { openForWriting } from '../../../src/storage/sqlite/database/database.ts'
import { noEvent } from '../../../src/storage/sqlite/engine/event-codec/event-text.ts'
import { letterText } from '../../../src/storage/sqlite/ledger/dead-letters.ts'
import type { Table } from '../../report/table.ts'
import type { Bench, Found } from '../bench.ts'
import { type Figure, median, rounded } from '../figures.ts'
import { asBrowser, postEvents } from '../load.ts'
import { Folder, type Program, startCairn } from '../programs.ts'
import { type Tenant, writeTenants } from '../seed.ts'

const part = 'management'

/** How long a verb may hold up ingest, milliseconds. */
const mostMs = 20

/** As many flows as one call takes, of as many steps as a flow may have. */
const flowsACall = 50
const stepsOfFlow = 50

/** How many people reported the events of the ledger, and how many dead letters wait to be stored. */
const peopleOfHistory = 500
const letters = 1_000

/** How long events are posted before a verb and after it, milliseconds. */
const marginMs = 40

type Ask = (method: string, path: string, body?: object | string) => Promise<string>

interface Verb {
  what: string
  /** Prepares what the verb needs; not measured. */
  prepare?(ask: Ask, n: number): Promise<unknown>
  run(ask: Ask, n: number): Promise<unknown>
}

/** The measurements of one verb in each round, and of an equally long time without a verb. */
interface Held {
  tookMs: number[]
  longestMs: number[]
  idleMs: number[]
  /** CPU of the busiest thread meanwhile, minus what it takes in the same time without a verb. */
  cpuMs: number[]
}

/**
 * How long events, posted one after the other, wait for their answer while a management verb runs: the
 * longest wait of each round. On a machine that others use too, single rounds get longer and none gets
 * shorter, so the table has the least of them too.
 */
export async function management({ effort, seeds }: Bench): Promise<Found> {
  using folder = new Folder()
  const [tenant] = seeds.plant(folder, 1, 1)
  await using cairn = await startCairn(folder)
  await postEvents(cairn, {
    tenants: await writeTenants(folder, [tenant!]),
    people: peopleOfHistory,
    batch: 50,
    ids: 'v7',
    seconds: effort.seconds,
    connections: 8,
  })
  const ask = operator(folder, tenant!)
  const probe = new Probe(cairn, tenant!)
  const held = new Map<Verb, Held>(
    verbs(folder).map(verb => [verb, { tookMs: [], longestMs: [], idleMs: [], cpuMs: [] }]),
  )
  // The first round is not measured, because nothing is warm yet.
  for (let round = 0; round <= effort.rounds; round++) {
    for (const [verb, seen] of held) {
      await verb.prepare?.(ask, round)
      const busy = await probe.during(() => verb.run(ask, round))
      const idle = await probe.during(() => Bun.sleep(busy.tookMs))
      if (round === 0) continue
      seen.tookMs.push(busy.tookMs)
      seen.longestMs.push(busy.longestMs)
      seen.idleMs.push(idle.longestMs)
      seen.cpuMs.push(busy.cpuMs - idle.cpuMs)
    }
  }
  const figures = [...held].map(
    ([{ what }, { longestMs, idleMs }]): Figure => ({
      part,
      what: `${what}: how much longer an event waits`,
      unit: 'ms',
      cairn: longestMs.map((ms, i) => ms - idleMs[i]!),
      goal: `at most ${mostMs}`,
      most: mostMs,
    }),
  )
  return { figures, tables: [tableOf(held)] }
}

function tableOf(held: ReadonlyMap<Verb, Held>): Table {
  const rows = [...held].map(([{ what }, { tookMs, longestMs, idleMs, cpuMs }]) => [
    what,
    rounded(median(tookMs)),
    rounded(median(longestMs)),
    rounded(Math.min(...longestMs)),
    rounded(median(idleMs)),
    rounded(Math.min(...cpuMs)),
  ])
  return {
    title: 'The longest that an event waits while a verb is at work, milliseconds',
    header: ['verb', 'it takes', 'longest wait', 'least', 'without it', 'CPU of one thread'],
    rows,
  }
}

/** Posts one event after the other. */
class Probe {
  constructor(
    private readonly program: Program,
    private readonly tenant: Tenant,
  ) {}

  /** The longest wait of an event while some work is done, and shortly after. */
  async during(work: () => Promise<unknown>) {
    let isOver = false
    let longestMs = 0
    const post = async () => {
      while (!isOver) {
        const startedAt = performance.now()
        await this.post()
        longestMs = Math.max(longestMs, performance.now() - startedAt)
        await Bun.sleep(1)
      }
    }
    const posting = post()
    await Bun.sleep(marginMs)
    const before = cpuByThread(this.program.pid)
    longestMs = 0
    const startedAt = performance.now()
    await work()
    const tookMs = performance.now() - startedAt
    const after = cpuByThread(this.program.pid)
    await Bun.sleep(marginMs)
    isOver = true
    await posting
    const cpuMs = Math.max(...[...after].map(([thread, ms]) => ms - (before.get(thread) ?? 0)))
    return { tookMs, longestMs, cpuMs }
  }

  private async post(): Promise<void> {
    const { flowId, stepIds } = this.tenant
    const event = { kind: 'step_viewed', flowId, stepId: stepIds[0], userId: 'somebody' }
    const response = await fetch(`${this.program.url}/api/v1/events`, {
      method: 'POST',
      headers: { ...asBrowser(this.tenant), 'Content-Type': 'application/json' },
      body: JSON.stringify({ events: [event] }),
    })
    const text = await response.text()
    if (response.status !== 202)
      throw new Error(`an event was answered ${response.status}: ${text}`)
  }
}

/** Milliseconds of CPU that each thread of a process has had; sched(5) counts nanoseconds. */
function cpuByThread(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`
  return new Map(
    readdirSync(folder).flatMap(thread => {
      try {
        const text = readFileSync(join(folder, thread, 'schedstat'), 'utf8')
        return [[thread, Number(text.split(' ')[0]) / 1e6] as const]
      } catch {
        // The thread has ended.
        return []
      }
    }),
  )
}

/** Asks as the operator does, over the socket. */
const operator =
  (folder: Folder, tenant: Tenant): Ask =>
  async (method, path, body) => {
    const response = await fetch(`http://cairn/api/v1/manage${path}`, {
      method,
      unix: socketFile(folder.path),
      headers: {
        'cairn-operator': 'bench',
        'cairn-organisation': tenant.id,
        'if-match': '*',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    } as RequestInit)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`)
    return text
  }

/** Every verb that writes beside a running server, each with as much as one call takes. */
function verbs(folder: Folder): Verb[] {
  const keys = Array.from({ length: flowsACall }, (_, i) => `pushed-${i}`)
  const flows = (n: string) =>
    keys.map(key => ({
      key,
      steps: Array.from({ length: stepsOfFlow }, (_, i) => ({
        key: `step-${i}`,
        target: { selector: `[data-test=step-${i}]` },
        title: `Step ${i} of ${n}`,
        body: 'This is where **everything** begins.',
      })),
    }))
  let sent = ''
  const ready = (publish: boolean, name: string) => ({
    // Prepared as text, so that building it is not part of what is measured.
    async prepare(_: Ask, n: number) {
      sent = JSON.stringify({ flows: flows(`${name} ${n}`), publish })
    },
    run: (ask: Ask) => ask('POST', '/push', sent),
  })
  const status = (verb: string) => ({
    run: (ask: Ask) => ask('POST', `/${verb}`, { keys }),
  })
  return [
    {
      what: 'create an organisation',
      run: (ask, n) => ask('POST', '/organisations', { name: `Made ${n}` }),
    },
    { what: 'set', run: (ask, n) => ask('PATCH', '/settings', { retentionDays: 30 + n }) },
    { what: 'rotate a key', run: ask => ask('POST', '/keys/rotate', { graceHours: 24 }) },
    {
      what: 'create a token',
      run: ask => ask('POST', '/tokens', { name: 'CI', scopes: ['flows:read'], expiresInDays: 9 }),
    },
    { what: 'push', ...ready(false, 'draft') },
    { what: 'publish', ...status('publish') },
    { what: 'push and publish', ...ready(true, 'version') },
    { what: 'unpublish', ...status('unpublish') },
    { what: 'archive', ...status('archive') },
    { what: 'publish again', ...status('publish') },
    {
      what: 'restore',
      run: ask => ask('POST', `/flows/${keys[0]}/versions/1/restore`, { publish: true }),
    },
    { what: 'pin', run: ask => ask('POST', '/pin', {}) },
    {
      what: 'repair',
      run: (ask, n) =>
        ask('POST', `/flows/${keys[0]}/steps/step-0/repair`, { selector: `#found-${n}` }),
    },
    {
      what: `retry ${letters} dead letters`,
      prepare: async () => addLetters(folder),
      run: ask => ask('POST', '/dead-letters/retry', { all: true }),
    },
    {
      what: `drop ${letters} dead letters`,
      prepare: async () => addLetters(folder),
      run: ask => ask('POST', '/dead-letters/drop', { all: true }),
    },
    { what: 'erase a person', run: (ask, n) => ask('DELETE', `/people?userId=user-${n}`) },
    { what: 'allow them', run: (ask, n) => ask('POST', '/people/allow', { userId: `user-${n}` }) },
    { what: 'rebuild', run: ask => ask('POST', '/rebuild') },
  ]
}

/** Stores dead letters of new events, as a storage thread does if the database refuses the events. */
function addLetters(folder: Folder): void {
  const database = openForWriting(folder.path)
  const insert = database.query(
    'insert into dead_letters (org_id, at, error, event) values (1, ?, ?, ?)',
  )
  const at = Date.now()
  const insertAll = database.transaction(() => {
    for (let i = 0; i < letters; i++) {
      const kind = 'custom'
      const event = { ...noEvent, id: crypto.randomUUID(), kind, name: 'clicked', occurredAt: at }
      insert.run(at, 'the bench', letterText({ ...event, userId: `user-${i}` } as NewEvent))
    }
  })
  insertAll.immediate()
  database.close()
}
