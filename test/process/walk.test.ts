import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { walks } from '../../scripts/walk.ts'

/** The files that the manual lists under a heading, in its order. */
async function told(heading: string): Promise<string[]> {
  const page = await Bun.file(join(import.meta.dir, '../../src/manual/contribute.md')).text()
  const section = page.split(`### ${heading}\n`)[1]?.split(/^##/m)[0] ?? ''
  return [...section.matchAll(/^\d+\. `src\/(\S+)`/gm)].map(([, file = '']) => file)
}

test('a request touches no more files than before, and the manual lists them', async () => {
  const { events, analytics } = await walks()
  expect(await told('POST /events')).toEqual(expect.arrayContaining(events))
  expect(await told('GET …/analytics')).toEqual(expect.arrayContaining(analytics))
  expect((await told('POST /events')).length).toBe(events.length)
  expect((await told('GET …/analytics')).length).toBe(analytics.length)
  // Lower these bounds with each file that goes. The aim is 30 and 20.
  expect(events.length).toBeLessThanOrEqual(39)
  expect(analytics.length).toBeLessThanOrEqual(33)
}, 300_000)
