import { type Bench, compared, type Effort, type Figure } from '../bench.ts'
import { type Events, type Loaded, sendEvents } from '../load.ts'
import type { Program } from '../programs.ts'
import { cairn, fastify, floor, type Store } from '../stores.ts'

export const batch = 50

/** As many as keep a program busy. */
export const connections = 64

export interface Mix extends Events {
  name: string
  flows: number
}

export const oneFlow: Mix = { name: 'whole runs of one flow', flows: 1, batch }

/** What many people do, as a back end forwards it: a request has the next events of 50 runs. */
export const people: Mix = {
  name: '50 of 1,000 open runs of 20 flows',
  flows: 20,
  batch,
  openRuns: 1_000,
}

/** So many that a run goes on about a second later, when its earlier events have long been written. */
const manyPeople: Mix = { ...people, name: '50 of 100,000 open runs', openRuns: 100_000 }

/** Events a second in batches of 50, and the CPU of each. */
export async function ingest(bench: Bench): Promise<void> {
  const beside = (mix: Mix, other: Store, goals: { rate?: string; cpu?: string }) => {
    const what = other === floor ? mix.name : `${mix.name}; beside ${other.name}`
    return bench.measure('ingest', what, async () => {
      const [theirs, ours] = await bench.inTurns(
        () => ingestOf(bench.effort, other, mix),
        () => ingestOf(bench.effort, cairn, mix),
      )
      return compared(what, [ours, theirs], batch, goals)
    })
  }
  await beside(oneFlow, floor, { rate: '≥ 0.6 ×', cpu: '≤ 1.9 ×' })
  await beside(people, floor, { rate: '≥ 0.6 ×', cpu: '≤ 1.95 ×' })
  await beside(manyPeople, floor, { rate: '≥ 0.28 ×', cpu: '≤ 4.5 ×' })
  await beside(people, fastify, { rate: '≥ 2.5 ×', cpu: '≤ 0.32 ×' })
  await bench.measure('ingest', 'with a long history', () => withHistory(bench))
}

async function withHistory(bench: Bench): Promise<Figure[]> {
  const history = await bench.history()
  await using program = await history.start()
  const newEvents = { batch, flow: 3 }
  const [empty, ordered, random] = await bench.inTurns(
    () => ingestOf(bench.effort, cairn, oneFlow),
    () => loadAfterWarmUp(bench.effort, program, newEvents),
    () => loadAfterWarmUp(bench.effort, program, { ...newEvents, ids: 'v4' }),
  )
  await program.end()
  const what = (ids: string) => `${ids} ids, ${history.name}; beside none stored`
  return [
    ...compared(what('ordered'), [ordered, empty], batch, { rate: '≥ 0.85 ×' }),
    ...compared(what('random'), [random, empty], batch, { rate: '≥ 0.25 ×' }),
  ]
}

/** A load of new events on a newly started program. */
export async function ingestOf(effort: Effort, store: Store, mix: Mix): Promise<Loaded> {
  await using program = await store.start(mix.flows)
  return await loadAfterWarmUp(effort, program, mix)
}

/** @throws Error unless all events were accepted */
async function loadAfterWarmUp({ seconds }: Effort, program: Program, events: Events) {
  const before = await program.acceptedEvents()
  const warm = await sendEvents(program, events, { seconds: 1, connections })
  const loaded = await sendEvents(program, events, { seconds, connections })
  const accepted = (await program.acceptedEvents())! - before!
  const sent = (warm.requests + loaded.requests) * events.batch
  if (before !== null && accepted < sent) {
    throw new Error(`${sent} events were sent, and ${accepted} accepted`)
  }
  return loaded
}
