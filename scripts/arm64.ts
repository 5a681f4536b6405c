/** What `scripts/arm64` tries with the executable at the given path; prints one line per step. */
import assert from 'node:assert/strict'
import { SeededRandom } from '../src/cli/demo/random.ts'
import { Workplace } from './support/binary.ts'
import { Site } from './torture/site.ts'
import { failedIn } from './torture/verdict.ts'

const [program] = process.argv.slice(2)
if (program === undefined) throw new Error('usage: scripts/arm64')

async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  console.log(`ok  ${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5)} s  ${what}`)
  return result
}

const place = new Workplace(async () => program)
try {
  const { version } = await step('prints its version', () =>
    place.json<{ version: string }>(['version']),
  )
  const site = await step('makes organisations, and publishes flows', () =>
    Site.open(new SeededRandom('arm64'), place),
  )
  let server = await step('starts', () => site.start())
  const health = await fetch(`${server.managementUrl}/healthz`)
  assert.equal(await health.text(), `ok ${version}\n`)
  await step('stores events, reports and publications', async () => {
    const load = site.load(server, { isPublishing: true })
    await site.until(300)
    await load.stop()
  })
  await step("serves the snippet's files", async () => {
    const page = await (await fetch(`${server.url}/snippet.js`)).text()
    const [renderer] = /snippet-renderer-[0-9a-f]{16}\.js/.exec(page) ?? []
    assert.match(await (await fetch(`${server.url}/${renderer}`)).text(), /.{10000}/s)
  })
  await step('stops cleanly', async () => {
    assert.equal(await server.end(), 0)
    assert.match(server.stdout, /stopped/)
  })
  await step('starts again, and is killed at work', async () => {
    server = await site.start()
    const load = site.load(server)
    await site.until(100)
    await site.kill(server, load)
  })
  await step('has lost nothing, stores nothing twice, and counts what is stored', async () => {
    assert.deepEqual(failedIn(await site.finish()), [])
  })
  console.log(`cairn ${version} for linux-arm64 works`)
} catch (error) {
  console.error(error)
  console.error('cairn: the executable for linux-arm64 does not work')
  process.exitCode = 1
} finally {
  await place.close()
}
