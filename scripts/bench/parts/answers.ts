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
  path: string
  headers: Record<string, string>
}

/** The questions that pages ask most, with the bytes of each answer. */
async function questions(program: Program, tenant: Tenant) {
  const headers = asBrowser(tenant)
  const whole = await fetch(`${program.url}/api/v1/flows`, { headers, decompress: false })
  const etag = whole.headers.get('etag') ?? ''
  const asked: Question[] = [
    { what: `GET /flows, ${flows} flows, br`, path: '/api/v1/flows', headers },
    {
      what: 'GET /flows, 304',
      path: '/api/v1/flows',
      headers: { ...headers, 'If-None-Match': etag },
    },
    { what: 'GET /flows/{id}', path: `/api/v1/flows/${tenant.flowId}`, headers },
    { what: 'GET /heartbeat', path: '/api/v1/heartbeat?v=1.0.0&sid=s1', headers },
  ]
  return Promise.all(
    asked.map(async question => {
      const answer = await fetch(`${program.url}${question.path}`, {
        headers: question.headers,
        decompress: false,
      })
      if (!answer.ok && answer.status !== 304) throw new Error(`${question.what}: ${answer.status}`)
      return { ...question, bytes: (await answer.arrayBuffer()).byteLength }
    }),
  )
}

/** Answers that pages wait for, beside a bare Elysia that has as many bytes in memory. */
export async function answers(effort: Effort): Promise<Figure[]> {
  const { seconds, warmSeconds, rounds } = effort
  using folder = new Folder()
  const [tenant] = seed(folder, 1, flows) as [Tenant]
  await using cairn = await startCairn(folder)
  const figures: Figure[] = []
  for (const { what, path, headers, bytes } of await questions(cairn, tenant)) {
    await using hello = await startHello(folder, bytes)
    const load = (program: Program, of: string, during: number) =>
      get(program, of, headers, { seconds: during, connections })
    await load(cairn, path, warmSeconds)
    await load(hello, '/', warmSeconds)
    const ofCairn: Loaded[] = []
    const ofHello: Loaded[] = []
    for (let round = 0; round < rounds; round++) {
      ofHello.push(await load(hello, '/', seconds))
      ofCairn.push(await load(cairn, path, seconds))
    }
    figures.push(...beside('answers', what, ofCairn, ofHello, 0.9))
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
