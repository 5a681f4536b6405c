import type { Effort } from '../effort.ts'
import type { Figure } from '../figures.ts'
import { get, type Loaded, postEvents } from '../load.ts'
import { Folder, type Program, startCairn, startHello } from '../programs.ts'
import { seed, type Tenant, writeTenants } from '../seed.ts'

const connections = 32
const flows = 20

/** What a browser sends along. */
const asBrowser = (tenant: Tenant) => ({
  Authorization: `Bearer ${tenant.snippetKey}`,
  'Accept-Encoding': 'gzip, deflate, br',
  Origin: 'https://app.example.com',
})

interface Question {
  what: string
  path(tenant: Tenant): string
  /** Asked by who has the answer already. */
  isKnown?: boolean
}

/** What pages ask most. */
const questions: Question[] = [
  { what: `GET /flows, ${flows} flows, br`, path: () => '/api/v1/flows' },
  { what: 'GET /flows, 304', path: () => '/api/v1/flows', isKnown: true },
  { what: 'GET /flows/{id}', path: ({ flowId }) => `/api/v1/flows/${flowId}` },
  { what: 'GET /heartbeat', path: () => '/api/v1/heartbeat?v=1.0.0&sid=s1' },
]

/** A question as one organisation's pages ask it, and how many bytes its answer has. */
async function asked(program: Program, tenant: Tenant, { what, path, isKnown }: Question) {
  const target = path(tenant)
  const ask = async (headers: Record<string, string>) => {
    const answer = await fetch(`${program.url}${target}`, { headers, decompress: false })
    const bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200 && answer.status !== 304) throw new Error(`${what}: ${answer.status}`)
    return { bytes, etag: answer.headers.get('etag') ?? '' }
  }
  const headers: Record<string, string> = asBrowser(tenant)
  const { etag } = await ask(headers)
  if (isKnown) headers['If-None-Match'] = etag
  const { bytes } = await ask(headers)
  return { target, headers, bytes }
}

/** Answers that pages wait for, beside a bare Elysia that has as many bytes in memory. */
export async function answers(effort: Effort): Promise<Figure[]> {
  const { seconds, warmSeconds, rounds } = effort
  using folder = new Folder()
  // One for each load: the highest limit there is would be spent in twenty seconds.
  const tenants = seed(folder, questions.length * (rounds + 1), flows)
  await using cairn = await startCairn(folder)
  const figures: Figure[] = []
  for (const question of questions) {
    const next = () => asked(cairn, tenants.pop() as Tenant, question)
    const first = await next()
    await using hello = await startHello(folder, first.bytes)
    const load = (program: Program, path: string, of: typeof first, during: number) =>
      get(program, path, of.headers, { seconds: during, connections })
    await load(cairn, first.target, first, warmSeconds)
    await load(hello, '/', first, warmSeconds)
    const ofCairn: Loaded[] = []
    const ofHello: Loaded[] = []
    for (let round = 0; round < rounds; round++) {
      const its = await next()
      ofHello.push(await load(hello, '/', its, seconds))
      ofCairn.push(await load(cairn, its.target, its, seconds))
    }
    figures.push(...beside('answers', question.what, ofCairn, ofHello, 0.9))
  }
  return figures
}

/** Requests with one event each, as browsers send them, beside a bare Elysia that parses the same. */
export async function single(effort: Effort): Promise<Figure[]> {
  const { seconds, warmSeconds, rounds } = effort
  const ofCairn: Loaded[] = []
  const ofHello: Loaded[] = []
  for (let round = 0; round < rounds; round++) {
    using folder = new Folder()
    const tenants = await writeTenants(folder, seed(folder, 1, 1))
    const measure = async (program: Program, path: string) => {
      await using measured = program
      const options = { tenants, batch: 1, ids: 'v7', path, connections: 64 } as const
      await postEvents(measured, { ...options, seconds: warmSeconds })
      // Awaited here: else it would be ended while it is measured.
      return await postEvents(measured, { ...options, seconds })
    }
    ofHello.push(await measure(await startHello(folder, 80), '/'))
    ofCairn.push(await measure(await startCairn(folder), '/api/v1/events'))
  }
  return beside('single', 'POST /events with one event', ofCairn, ofHello, 0.6)
}

function beside(
  part: string,
  what: string,
  ofCairn: readonly Loaded[],
  ofHello: readonly Loaded[],
  least: number,
): Figure[] {
  const failed = [...ofCairn, ...ofHello].reduce((sum, { errors }) => sum + errors, 0)
  if (failed > 0) throw new Error(`${what}: ${failed} requests failed`)
  const rates = (of: readonly Loaded[]) => of.map(({ perSecond }) => perSecond)
  const costs = (of: readonly Loaded[]) => of.map(({ cpuMicros }) => cpuMicros)
  const goal = `at least ${least} ×`
  return [
    { part, what, unit: 'req/s', cairn: rates(ofCairn), floor: rates(ofHello), goal, least },
    { part, what: `${what}: CPU`, unit: 'µs/req', cairn: costs(ofCairn), floor: costs(ofHello) },
  ]
}
