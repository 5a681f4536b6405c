/** The steps that `scripts/arm64` tries with the executable at the given path; prints one line per step. */
import assert from 'node:assert/strict'
import {
  apiOf,
  firstFlowOf,
  type Server,
  sessionToken,
  Workplace,
  withTour,
} from './support/binary.ts'

/** Longer than a start and a stop take under an emulator on a busy machine. */
const patienceMs = 600_000

const [program] = process.argv.slice(2)
if (program === undefined) throw new Error('usage: scripts/arm64')
const place = new Workplace(async () => program)

async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  console.log(`ok  ${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5)} s  ${what}`)
  return result
}

async function main() {
  const { version } = await step('says its version', () =>
    place.json<{ version: string }>(['version']),
  )
  const organisation = await step('makes an organisation, and publishes a flow', () =>
    withTour(place),
  )
  const token = await step('issues a session token', () => sessionToken(place, organisation.slug))
  let server = await step('starts', () => place.serve())
  const health = await fetch(`${server.managementUrl}/healthz`)
  assert.equal(await health.text(), `ok ${version}\n`)

  const ask = (credential: string, method: string, path: string, body?: unknown) =>
    apiOf(server, credential)(method, path, body)
  const flow = await step('tells pages its flow', () =>
    firstFlowOf(apiOf(server, organisation.snippetKey)),
  )
  assert.ok(flow)

  const report = async (runs: readonly string[]) => {
    const events = runs.flatMap(run => {
      const common = { userId: run, runId: run, flowId: flow.id }
      return [
        { ...common, id: `${run}-started`, kind: 'flow_started' },
        { ...common, id: `${run}-seen`, kind: 'step_viewed', stepId: flow.steps[0]?.id },
        { ...common, id: `${run}-done`, kind: 'flow_completed' },
      ]
    })
    const answer = await ask(organisation.snippetKey, 'POST', '/events', { events })
    assert.equal(answer.status, 202)
    return (await answer.json()) as { accepted: number; duplicates: number }
  }
  const requireRuns = async (count: number) => {
    const answer = await ask(token, 'GET', `/flows/${flow.id}/analytics`)
    assert.equal(answer.status, 200)
    const { totals } = (await answer.json()) as { totals: Record<string, number> }
    assert.deepEqual([totals.starts, totals.completions], [count, count])
  }
  await step('stores events, and acknowledges them', async () => {
    assert.equal((await report(['a', 'b'])).accepted, 6)
  })
  await step('counts them', () => requireRuns(2))
  await step("serves the snippet's files", () => requireSnippet(server))
  await step('stops cleanly', () => requireStop(server))
  await step('starts again, and is killed after it has acknowledged', async () => {
    server = await place.serve()
    assert.equal((await report(['c'])).accepted, 3)
    await server.end('SIGKILL')
  })
  await step('has lost nothing, and stores nothing twice', async () => {
    server = await place.serve()
    assert.equal((await report(['a', 'b', 'c'])).duplicates, 9)
    await requireRuns(3)
    await requireStop(server)
    assert.equal((await place.json<{ changed: number }>(['rebuild'])).changed, 0)
  })
  console.log(`cairn ${version} for linux-arm64 works`)
}

/** Fails unless the server serves the page's script and the one that it loads when a flow is due. */
async function requireSnippet({ url }: Server): Promise<void> {
  const page = await fetch(`${url}/snippet.js`)
  const [renderer] = /snippet-renderer-[0-9a-f]{16}\.js/.exec(await page.text()) ?? []
  assert.equal(page.status, 200)
  assert.ok(renderer)
  const part = await fetch(`${url}/${renderer}`)
  assert.equal(part.status, 200)
  assert.match(part.headers.get('content-type') ?? '', /javascript/)
  assert.ok((await part.text()).length > 10_000)
}

async function requireStop(server: Server): Promise<void> {
  assert.equal(await server.end('SIGTERM'), 0)
  assert.match(server.stdout, /stopped/)
}

const tooLong = setTimeout(() => {
  console.error(`cairn: not done after ${patienceMs / 1_000} s`)
  place.close().finally(() => process.exit(1))
}, patienceMs)
try {
  await main()
} catch (error) {
  console.error(error)
  console.error('cairn: the executable for linux-arm64 does not work')
  process.exitCode = 1
} finally {
  clearTimeout(tooLong)
  await place.close()
}
