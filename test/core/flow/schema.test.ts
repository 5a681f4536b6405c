import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import fc from 'fast-check'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import { minimalFlow } from '../../../src/core/flow/minimal.ts'
import { flowFileSchema } from '../../../src/core/flow/schema.ts'
import { anyFlow, byKey } from '../../support/any-flow.ts'
import { rounds } from '../../support/rounds.ts'

// Strict, because a keyword that means nothing is a mistake in the schema.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false })
ajv.addVocabulary(['enumDescriptions', 'patternErrorMessage', 'doNotSuggest'])
const isTaken = ajv.compile(flowFileSchema())

/** Problems of shape. A schema cannot say what a flow means, nor that no key is repeated. */
const ofShape = ['invalid_value', 'missing_field', 'unknown_field', 'not_a_flow', 'empty_file']

const isRead = (file: unknown) =>
  !readFlowFile(JSON.stringify(file), { format: 'json' }).problems.some(({ code }) =>
    ofShape.includes(code),
  )

/** Replaces, adds or takes away one thing somewhere in a value. */
function mutated(value: unknown, path: readonly number[], change: Change): unknown {
  const [at, ...below] = path
  if (at === undefined || typeof value !== 'object' || value === null) return change.value
  const entries = Object.entries(value)
  const index = entries.length === 0 ? 0 : at % (entries.length + 1)
  const entry = entries[index]
  if (entry === undefined) entries.push([change.name, change.value])
  else if (below.length > 0) entry[1] = mutated(entry[1], below, change)
  else if (change.takesAway) entries.splice(index, 1)
  else entry[1] = change.value
  return Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries)
}

interface Change {
  value: unknown
  name: string
  takesAway: boolean
}

const change: fc.Arbitrary<Change> = fc.record({
  value: fc.constantFrom<unknown>(
    ...[null, true, '', 'x', 'tour', 'modal', 'a b', '/help', 'javascript:x', '#fff', '\0', 'é'],
    ...[0, 1, -1, 1.5, 65, 60_001, 1_000_001, [], {}, [null], ['x', 1], [['x']], { key: 'k' }],
    ...['x'.repeat(65), 'x'.repeat(201), 'x'.repeat(2_049), Array(101).fill('x')],
    ...[{ selector: 'a' }, { event: 'e' }, { on: 'event' }, { items: [] }, [{ key: 'k' }]],
  ),
  name: fc.constantFrom(
    ...['id', 'position', 'version', 'publishedAt', 'flows', 'nme', 'href', 'title', 'kind'],
    ...['name', 'theme', 'steps', 'checklist', 'description', 'value', 'target', 'key', 'event'],
  ),
  takesAway: fc.boolean(),
})

const shaped = byKey(anyFlow).chain(flows =>
  fc
    .constantFrom<(of: unknown[]) => unknown>(
      all => all[0] ?? {},
      all => all,
      all => ({ flows: all }),
      all => ({ flows: all, version: 'w' }),
    )
    .map(shape => shape(flows.map(minimalFlow))),
)

describe('the schema accepts what the reader accepts, and nothing else', () => {
  test('flows as their authors may write them', () => {
    fc.assert(
      fc.property(anyFlow, flow => {
        expect([isTaken(minimalFlow(flow)), isTaken(flow)]).toEqual([true, true])
      }),
      { numRuns: rounds(200) },
    )
  })

  test('files with anything changed in them', () => {
    let taken = 0
    let refused = 0
    const path = fc.array(fc.nat(20), { maxLength: 6 })
    fc.assert(
      fc.property(shaped, fc.array(fc.tuple(path, change), { maxLength: 2 }), (file, changes) => {
        const changed = changes.reduce<unknown>((at, [to, how]) => mutated(at, to, how), file)
        const verdict = isTaken(changed)
        expect(verdict).toBe(isRead(changed))
        if (verdict) taken++
        else refused++
      }),
      { numRuns: rounds(800) },
    )
    expect(Math.min(taken, refused)).toBeGreaterThan(rounds(100))
  })

  test('anything at all', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), file => {
        expect(isTaken(file)).toBe(isRead(file))
      }),
      { numRuns: rounds(500) },
    )
  })

  test('what the API answered', () => {
    const step = { id: 's', position: 0, key: 'one', title: 'One' }
    const item = { id: 'i', position: 0, key: 'do', title: 'Do' }
    const flow = { id: 'f', version: 3, publishedAt: '2026-01-01T00:00:00Z', key: 'a' }
    const answer = { ...flow, steps: [step], checklist: { order: 'any', items: [item] } }
    expect(isTaken({ flows: [answer], version: 'w' })).toBe(true)
  })
})

describe('a typical mistake is rejected where it stands', () => {
  const step = { key: 's', title: 'S' }
  test.each<[string, unknown, string, string]>([
    ['no key', { name: 'a' }, '', 'required'],
    ['a kind that is none', { key: 'a', kind: 'tuor' }, '/kind', 'enum'],
    ['a misspelt field', { key: 'a', nme: 'b' }, '', 'additionalProperties'],
    [
      'a target in short',
      { key: 'a', steps: [{ ...step, target: '#x' }] },
      '/steps/0/target',
      'type',
    ],
    ['a wrong flow of several', [{ key: 'a' }, { key: 1 }], '/1/key', 'type'],
    ['no flow', [], '', 'minItems'],
  ])('%s', (_, file, path, keyword) => {
    expect(isTaken(file)).toBe(false)
    expect(isTaken.errors?.filter(error => error.keyword !== 'if')[0]).toMatchObject({
      instancePath: path,
      keyword,
    })
    expect(isRead(file)).toBe(false)
  })
})

test('every field that an author may write is described, and so is every word of an enum', () => {
  const silent: string[] = []
  const walk = (schema: Record<string, unknown>, at: string) => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (!field.description) silent.push(`${at}/${name}`)
      if (field.enum) expect(field.enumDescriptions).toHaveLength(field.enum.length)
      walk(field, `${at}/${name}`)
    }
    if (schema.items) walk(schema.items as Record<string, unknown>, `${at}/*`)
  }
  const { definitions } = flowFileSchema() as { definitions: Record<string, object> }
  for (const [name, schema] of Object.entries(definitions)) walk({ ...schema }, name)
  expect(silent).toEqual([])
})

test('every pattern is explained in plain words, to editors and in problems', () => {
  expect(JSON.stringify(flowFileSchema())).not.toContain('undefined')
})
