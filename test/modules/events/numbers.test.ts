import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { storedEvents } from '../../support/ledger.ts'
import { rounds } from '../../support/rounds.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** What happens to numbers on their way from a caller's text to an export. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ events: 1_000_000 })
})

/** Sends events whose properties are given as text, and returns what is stored of each; null if refused. */
async function keptOf(properties: readonly string[], space = ''): Promise<(string | null)[]> {
  const ids = properties.map(() => crypto.randomUUID())
  const events = properties.map(
    (text, i) =>
      `{"id":"${ids[i]}","kind":"custom","name":"n","userId":"12345678901234567890","url":"[1e-400]","properties":${space}${text}}`,
  )
  const answer = await tenant.answer('POST /events', { body: `{"events":[${events.join(',')}]}` })
  expect([202, 422]).toContain(answer.status)
  const refused = answer.body.results.map(({ code }: { code: string }) => code)
  expect(new Set(refused).difference(new Set(['invalid']))).toEqual(new Set())
  const stored = new Map(storedEvents(world.database).map(event => [event.id, event.properties]))
  return ids.map(id => stored.get(id) ?? null)
}

test('every number that JSON.stringify writes is accepted, except whole ones beyond 2^53', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc
          .double({ noNaN: true, noDefaultInfinity: true })
          .filter(value => !Number.isInteger(value) || Number.isSafeInteger(value)),
        { minLength: 1, maxLength: 50 },
      ),
      async values => {
        const sent = values.map(value => JSON.stringify({ value }))
        expect(await keptOf(sent)).toEqual(sent)
      },
    ),
    { numRuns: rounds(40) },
  )
})

test.each([
  '123456789012345678901234567890',
  '12345678901234567',
  '-9007199254740993',
  '9007199254740992.0',
  '1e400',
  `1${'0'.repeat(400)}`,
])('%s would change, so only its event is refused', async text => {
  const good = '{"a":1}'
  expect(await keptOf([good, `{"a":${text}}`, good])).toEqual([good, null, good])
  expect(await keptOf([`{"a":[[${text}]]}`, '{"a":[[1]]}'])).toEqual([null, '{"a":[[1]]}'])
})

test.each([
  ['-0', '0'],
  ['0e-999', '0'],
  ['1.50000000000000000000', '1.5'],
  ['9007199254740991', '9007199254740991'],
  ['0.1e1', '1'],
  ['5e-324', '5e-324'],
  ['3.14159265358979323846', '3.141592653589793'],
])('%s is kept as %s, as JSON.parse reads it', async (text, kept) => {
  expect(await keptOf([`{"a":${text}}`])).toEqual([`{"a":${kept}}`])
})

test('texts that look like such numbers are texts', async () => {
  const texts = ['{"a":"1e-400","n":1}', '{"a":"\\\\",":1e-400":"[0.10000000000000000001]","n":0}']
  expect(await keptOf(texts)).toEqual(texts)
})
