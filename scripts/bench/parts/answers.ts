import type { Bench, Found } from '../bench.ts'
import type { Figure } from '../figures.ts'
import { allAnswered, type Loaded, repeat } from '../load.ts'
import { asked, flows, heartbeat, knownFlows, oneFlow, type Question } from '../pages.ts'
import { Folder, type Program, startCairn, startHello } from '../programs.ts'

const connections = 32
const flowsOfOne = 20

/** What pages ask for most. */
export const questions: { what: string; question: Question }[] = [
  { what: `GET /flows, ${flowsOfOne} flows, br`, question: flows },
  { what: 'GET /flows, 304', question: knownFlows },
  { what: 'GET /flows/{id}', question: oneFlow },
  { what: 'GET /heartbeat', question: heartbeat },
]

/** One question to Cairn, and to a bare Elysia that answers as many bytes from memory; they take turns. */
export async function besideHello(
  { seeds, effort }: Bench,
  question: Question,
): Promise<{ ofCairn: Loaded[]; ofHello: Loaded[] }> {
  const { seconds, warmSeconds, rounds } = effort
  using folder = new Folder()
  // One for each load, because twenty seconds of load would use up even the highest limit.
  const tenants = seeds.plant(folder, 40, flowsOfOne)
  await using cairn = await startCairn(folder)
  const next = () => asked(cairn, tenants.pop()!, question)
  const first = await next()
  await using hello = await startHello(folder, first.bytes)
  const ofHello: Loaded[] = []
  const ofCairn: Loaded[] = []
  const load = (program: Program, request: typeof first, during: number) =>
    repeat(program, request, { seconds: during, connections })
  await load(cairn, first, warmSeconds)
  await load(hello, { ...first, path: '/' }, warmSeconds)
  for (let round = 0; round < rounds; round++) {
    const its = await next()
    ofHello.push(await load(hello, { ...its, path: '/' }, seconds))
    ofCairn.push(await load(cairn, its, seconds))
  }
  return { ofCairn, ofHello }
}

/** Answers that pages wait for. */
export async function answers(bench: Bench): Promise<Found> {
  const figures: Figure[] = []
  for (const { what, question } of questions) {
    const { ofCairn, ofHello } = await besideHello(bench, question)
    figures.push(...beside('answers', what, ofCairn, ofHello, 0.8))
  }
  return { figures }
}

/** Rates and costs of two programs as figures. */
export function beside(
  part: string,
  what: string,
  ofCairn: readonly Loaded[],
  ofHello: readonly Loaded[],
  least: number,
): Figure[] {
  allAnswered(what, [...ofCairn, ...ofHello])
  const rates = (of: readonly Loaded[]) => of.map(({ perSecond }) => perSecond)
  const costs = (of: readonly Loaded[]) => of.map(({ cpuMicros }) => cpuMicros)
  const goal = `at least ${least} ×`
  return [
    { part, what, unit: 'req/s', cairn: rates(ofCairn), beside: rates(ofHello), goal, least },
    { part, what: `${what}: CPU`, unit: 'µs/req', cairn: costs(ofCairn), beside: costs(ofHello) },
  ]
}
