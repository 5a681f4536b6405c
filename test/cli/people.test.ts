import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiOf, firstFlowOf, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

/** People and segments from the command line. What the routes return is tested beside them. */

const cairn = new CommandLine()
afterAll(() => cairn.close())
beforeAll(() => cairn.json(['org', 'create', 'Acme']))

const filter = '{"rules":[{"attribute":"plan","op":"eq","value":"pro"}]}'

test('a segment is created, listed, used by its name, and deleted', async () => {
  const made = await cairn.json(['segments', 'create', 'Pro plan', '--filter', filter])
  expect(await cairn.json(['segments', 'list'])).toEqual([made])
  const table = await cairn.run(['segments', 'list'])
  expect(table.stdout).toMatch(/Pro plan +segment_\w+ +1 trait /)
  expect((await cairn.run(['people', 'list', '--segment', 'Pro plan'])).stdout).toContain('No ')
  const { id, name } = made
  expect(await cairn.json(['segments', 'delete', 'Pro plan'])).toEqual({ id, name })
  expect(await cairn.json(['segments', 'list'])).toEqual([])
})

test('wrong filters and names are errors that name the place', async () => {
  const wrong = await cairn.run(['segments', 'create', 'x', '--filter', '{"rules":[{}]}'])
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining('/filter/rules/0')])
  const missing = await cairn.run(['people', 'list', '--segment', 'Pro plan'])
  expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining('"Pro plan"')])
  const both = await cairn.run(['people', 'list', '--csv', '--json'])
  expect([both.status, both.stdout]).toEqual([2, ''])
})

test('the CSV is printed alone, and nobody is an error of show', async () => {
  const { stdout, stderr } = await cairn.run(['people', 'list', '--search', 'a', '--csv'])
  expect([stdout.trim().split(',').slice(0, 2), stderr]).toEqual([['user_id', 'anonymous_id'], ''])
  const nobody = await cairn.run(['people', 'show', 'ada'])
  expect([nobody.status, nobody.stdout]).toEqual([1, ''])
  expect(nobody.stderr).toContain('no data for this person')
})

test('a run without an outcome is unfinished, as in the dashboard', async () => {
  await using place = new CommandLine()
  const { snippetKey } = await withTour(place)
  const api = apiOf(await place.serve(), snippetKey)
  const { id: flowId } = await firstFlowOf(api)
  const event = { kind: 'flow_started', flowId, runId: 'r', userId: 'ada' }
  expect((await api('POST', '/events', { events: [event] })).status).toBe(202)
  const { stdout } = await place.run(['people', 'show', 'ada'])
  expect(stdout).toMatch(/\ntour +unfinished +1\n/)
})
