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

/** A decimal as a fraction of whole numbers, as large as they have to be. */
function fractionOf(token: string): [bigint, bigint] {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const power = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n]
}

function areEqual(a: string, b: string): boolean {
  const [[an, ad], [bn, bd]] = [fractionOf(a), fractionOf(b)]
  return an * bd === bn * ad
}

const digits = (most: number) =>
  fc.stringMatching(/^[0-9]+$/, { maxLength: most }).filter(text => text.length <= most)

/** Any number that JSON can write, more often those that a double can only just keep or not keep. */
const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => JSON.stringify(value)),
  fc.integer().map(String),
  fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }).map(String),
  fc
    .record({
      sign: fc.constantFrom('', '-'),
      whole: fc.oneof(
        fc.constant('0'),
        digits(22).map(text => BigInt(text).toString()),
      ),
      fraction: fc.oneof(
        fc.constant(''),
        digits(22).map(text => `.${text}`),
      ),
      exponent: fc.oneof(
        fc.constant(''),
        fc
          .record({
            e: fc.constantFrom('e', 'E', 'e+', 'E-', 'e-', 'e-0'),
            power: fc.oneof(fc.nat({ max: 25 }), fc.integer({ min: 290, max: 420 })),
          })
          .map(({ e, power }) => e + power),
      ),
    })
    .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent),
)

test('an accepted number is kept as the decimal number it was, wherever it stands', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(numberText, { minLength: 1, maxLength: 50 }),
      fc.constantFrom('', ' '),
      async (numbers, space) => {
        const sent = numbers.map((text, i) =>
          i % 2 === 0 ? `{"a":${text}}` : `{"b":[1,{"c":${space}${text}}]}`,
        )
        const kept = await keptOf(sent, space)
        for (const [i, text] of kept.entries()) {
          if (text === null) continue
          const [found = ''] = /-?\d[\d.eE+-]*(?=\}+\]?\}*$)/.exec(text) ?? []
          expect([numbers[i], found, areEqual(numbers[i]!, found)]).toEqual([
            numbers[i],
            found,
            true,
          ])
        }
      },
    ),
    { numRuns: rounds(60) },
  )
})

test('every number that JSON.stringify writes is accepted, except whole ones beyond 2^53', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc
          .double({ noNaN: true, noDefaultInfinity: true })
          .filter(
            value =>
              Math.abs(value) >= 1e21 || !Number.isInteger(value) || Number.isSafeInteger(value),
          ),
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
  '1e-400',
  '-1E-0400',
  '0.00001e-320',
  '1e400',
  '0.1000000000000000055',
  '3.14159265358979323846',
  '1.00000000000000000001',
  `1${'0'.repeat(400)}`,
  `0.${'0'.repeat(400)}1`,
])('%s would change, so only its event is refused', async text => {
  const good = '{"a":1}'
  expect(await keptOf([good, `{"a":${text}}`, good])).toEqual([good, null, good])
  // The same number as the only difference between two events.
  expect(await keptOf([`{"a":[[${text}]]}`, '{"a":[[1]]}'])).toEqual([null, '{"a":[[1]]}'])
})

test.each([
  ['-0', '0'],
  ['-0.0e5', '0'],
  ['0e-999', '0'],
  ['1.50000000000000000000', '1.5'],
  ['100000000000000000000000', '1e+23'],
  ['0.1e1', '1'],
  ['5e-324', '5e-324'],
  ['1.7976931348623157e308', '1.7976931348623157e+308'],
])('%s is kept as %s', async (text, kept) => {
  expect(await keptOf([`{"a":${text}}`])).toEqual([`{"a":${kept}}`])
})

test('texts that look like such numbers are texts', async () => {
  const texts = ['{"a":"1e-400","n":1}', '{"a":"\\\\",":1e-400":"[0.10000000000000000001]","n":0}']
  expect(await keptOf(texts)).toEqual(texts)
})

test('numbers that would change do no harm in other parts of an event', async () => {
  const body = `{"events":[{"kind":"custom","name":"n","userId":"u","more":1e-400,"properties":{"a":1}}],"x":[0.10000000000000000001]}`
  expect((await tenant.answer('POST /events', { body })).status).toBe(202)
})
