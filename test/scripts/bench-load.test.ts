import { beforeAll, describe, expect, test } from 'bun:test'
import { median } from '../../scripts/bench/figures.ts'
import { postEvents } from '../../scripts/bench/load.ts'
import { Folder } from '../../scripts/bench/programs.ts'
import { writeTenants } from '../../scripts/bench/seed.ts'

interface Sent {
  id: string
  kind: string
  flowId: string
  userId: string
  runId: string
  sessionId: string
}

const life = 'flow_started step_viewed step_completed step_viewed flow_completed'

const openRuns = 1_000

/** What a load of many people sends in a second: a list of events for each request. */
async function sent(): Promise<Sent[][]> {
  const requests: Sent[][] = []
  using server = Bun.serve({
    port: 0,
    async fetch(request) {
      // More requests would only take longer to check.
      if (requests.length < 500) {
        requests.push(((await request.json()) as { events: Sent[] }).events)
      }
      return new Response(null, { status: 202 })
    },
  })
  using folder = new Folder()
  const flows = Array.from({ length: 20 }, (_, i) => {
    return { id: 'o', snippetKey: 'k', flowId: `flow-${i}`, stepIds: ['a', 'b', 'c'] }
  })
  const tenants = await writeTenants(folder, flows)
  const url = `${server.url}`.replace(/\/$/, '')
  const program = { urls: [url], cpuMicros: () => 0, helperCpuMicros: () => 0 }
  const load = { tenants, batch: 50, ids: 'v7', openRuns, connections: 1, seconds: 1 } as const
  await postEvents(program, load)
  return requests
}

describe.skipIf(!Bun.which('wrk'))('the load of many people', () => {
  let requests: Sent[][] = []
  beforeAll(async () => {
    requests = await sent()
  })

  test('the events of a request are of different runs, each of a person in a flow, start to end', () => {
    expect(requests.length).toBeGreaterThan((10 * openRuns) / 50)
    for (const events of requests) {
      expect(new Set(events.map(({ runId }) => runId)).size).toBe(50)
    }
    const all = requests.flat()
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    expect(
      all.every(({ id }) => /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/.test(id)),
    ).toBeTrue()
    const runs = [...Map.groupBy(all, ({ runId }) => runId).values()]
    for (const property of ['userId', 'sessionId'] as const) {
      expect(new Set(all.map(event => event[property])).size).toBe(runs.length)
    }
    for (const events of runs) {
      const kinds = events.map(({ kind }) => kind).join(' ')
      const number = Number(events[0]!.userId.slice('user-'.length))
      // The first runs had begun before, and the last ones have not ended.
      if (number <= openRuns) expect(life).toContain(kinds)
      else expect(life).toStartWith(kinds)
      expect(new Set(events.map(({ flowId }) => flowId)).size).toBe(1)
    }
    expect(new Set(all.map(({ flowId }) => flowId)).size).toBe(20)
  })

  test('runs come back in a request with other runs', () => {
    const around = openRuns / 50
    const runsOf = (request: Sent[]) => request.map(({ runId }) => runId)
    const kept = requests.slice(around).map((request, i) => {
      const before = new Set(runsOf(requests[i]!))
      return runsOf(request).filter(run => before.has(run)).length
    })
    // In the same order, all runs but those that have ended would come back together: 40 of 50.
    expect(median(kept)).toBeLessThan(20)
  })
})
