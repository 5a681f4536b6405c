import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { AudienceRule } from '../../../../src/core/flow/flow.ts'
import { rulesHold } from '../../../../src/core/person/filter.ts'
import type { PeopleConditions, PeopleSort } from '../../../../src/storage/interfaces/people.ts'
import type { InRows } from '../../../../src/storage/shared/in-rows.ts'
import { prepareDatabase } from '../../../../src/storage/sqlite/database/prepare.ts'
import { peopleListOver } from '../../../../src/storage/sqlite/people/people-list.ts'
import { packAnswers, packSteps } from '../../../../src/storage/sqlite/runs/run-rows.ts'
import { rounds } from '../../../support/rounds.ts'

/** What SQL decides of a filter is what the rules and the runs say, in every order and from any place. */

const folder = mkdtempSync(join(tmpdir(), 'cairn-people-'))
const database = prepareDatabase(folder)
const list = peopleListOver(database)
/** Looks at everybody at once, as a long search does in the end. */
const impatient = peopleListOver(database, 0)
const { signal } = new AbortController()
afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const texts = ['pro', 'Pro', 'true', 'false', '5', '12', '5.0', '', 'a"b\\', 'é', '😀', '\u{ff21}']
const text = fc.constantFrom(...texts, '2026-01-01T00:00:00Z', '2026-01-01T01:00:00+01:00')
const attribute = fc.constantFrom('plan', 'role', 'pl')
const one = fc.oneof(text, fc.boolean(), fc.constantFrom(5, 5.5, 0))
const rule = fc.record({
  attribute,
  op: fc.constantFrom('eq', 'neq', 'in', 'nin', 'gt', 'lte', 'contains', 'exists'),
  value: fc.oneof(one, fc.array(one, { maxLength: 3 })),
}) as unknown as fc.Arbitrary<AudienceRule>
const filter = fc.record({
  match: fc.constantFrom('all' as const, 'any' as const),
  rules: fc.array(rule, { maxLength: 3 }),
})

/** Two steps, and those of which a run of each version has viewed one if it got further than step 1. */
const steps = [1, 11]
const further = new Map([
  [1, [11]],
  [2, []],
  [null, [11]],
])
const run = fc.record({
  flow: fc.constantFrom(7, 8),
  version: fc.constantFrom(1, 2, 3),
  isCompleted: fc.boolean(),
  isDismissed: fc.boolean(),
  viewed: fc.subarray(steps),
  answers: fc.dictionary(
    fc.constantFrom('1', '11'),
    fc.constantFrom(0, 3, 10, 'a', '', '3', ['a', 'b']),
  ),
})
const person = fc.record({
  name: fc.constantFrom('uAnn', 'uann@example.com', 'aanon-1', 'uÉva', 'u100%', 'u😀', 'u\u{ff21}'),
  lastAt: fc.nat(3),
  traits: fc.dictionary(attribute, text, { maxKeys: 3 }),
  runs: fc.array(run, { maxLength: 3 }),
})
const condition = fc.record({
  outcome: fc.constantFrom('completed', 'dismissed', 'in_progress', 'not_met', undefined),
  isLeft: fc.boolean(),
  answer: fc.constantFrom(
    ...[null, {}, { from: 3 }, { to: 3 }, { from: 1, to: 9 }, { choice: 'a' }, { choice: '3' }],
  ),
})

type Of<T> = T extends fc.Arbitrary<infer Value> ? Value : never
type Person = Of<typeof person>
type Run = Person['runs'][number]

function store(people: readonly Person[]) {
  for (const table of ['people', 'runs', 'flows', 'organisations']) {
    database.run(`delete from ${table}`)
  }
  database.run(
    `insert into organisations (id, public_id, slug, name, created_at) values (1, 'org', 'org', 'Org', 1)`,
  )
  for (const id of [7, 8]) {
    database.run(
      `insert into flows (id, public_id, org_id, key, status, updated_at) values (?, ?, 1, ?, 'published', 1)`,
      [id, `flow${id}`, `flow${id}`],
    )
  }
  for (const [i, { name, lastAt, traits, runs }] of people.entries()) {
    const packed = Object.entries(traits)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([trait, value]) => [trait, value, 1])
    database.run(
      'insert into people (org_id, person, first_at, last_at, traits, pages) values (1, ?, 1, ?, ?, ?)',
      [name, lastAt, JSON.stringify(packed), '[]'],
    )
    for (const [at, { flow, version, isCompleted, isDismissed, ...run }] of runs.entries()) {
      const viewed = run.viewed.map(stepId => ({
        ...{ stepId, viewedAt: 5, completedAt: null, skippedAt: null, missingAt: null },
      }))
      const answers = Object.entries(run.answers).map(([stepId, answer]) => ({
        ...{ stepId: Number(stepId), at: 1, answer: JSON.stringify(answer) },
      }))
      const [completedAt, dismissedAt] = [isCompleted ? 1 : null, isDismissed ? 1 : null]
      database.run(
        `insert into runs (org_id, flow_id, run_key, person, started_at, last_at, version, steps, answers,
          completed_at, dismissed_at)
        values (1, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)`,
        [
          ...[flow, `${i}-${at}`, name, at, version, packSteps(viewed), packAnswers(answers)],
          ...[completedAt, dismissedAt],
        ],
      )
    }
  }
}

function outcomeOf(runs: readonly Run[]) {
  if (runs.length === 0) return 'not_met'
  if (runs.some(({ isCompleted }) => isCompleted)) return 'completed'
  return runs.some(({ isDismissed }) => isDismissed) ? 'dismissed' : 'in_progress'
}

const isLeft = ({ isCompleted, viewed, version }: Run) =>
  !isCompleted && viewed.includes(1) && (version === 2 || !viewed.includes(11))

function isAnswered(run: Run, answer: NonNullable<Of<typeof condition>['answer']>): boolean {
  const given = run.answers['1']
  if (given === undefined) return false
  if ('choice' in answer) return [given].flat().some(choice => choice === answer.choice)
  const { from = -1, to = 99 } = answer as { from?: number; to?: number }
  return (
    Object.keys(answer).length === 0 || (typeof given === 'number' && from <= given && given <= to)
  )
}

function meets(
  all: readonly Run[],
  { outcome, isLeft: left, answer }: Of<typeof condition>,
): boolean {
  const runs = all.filter(({ flow }) => flow === 7)
  if (outcome === 'not_met') return runs.length === 0
  return (
    runs.length > 0 &&
    (outcome === undefined || outcomeOf(runs) === outcome) &&
    (!left || runs.some(isLeft)) &&
    (answer === null || runs.some(one => isAnswered(one, answer)))
  )
}

async function found(conditions: InRows<PeopleConditions>, by: 'id' | 'lastSeen') {
  const pages = list.people(1, { by, isDescending: false }, null, conditions)
  return (await Array.fromAsync(pages)).flat().map(({ person: name }) => name)
}

const people = fc.uniqueArray(person, { selector: ({ name }) => name, maxLength: 6 })

test('a filter finds whom its rules, its search and their runs say', async () => {
  await fc.assert(
    fc.asyncProperty(
      people,
      fc.array(filter, { maxLength: 2 }),
      fc.constantFrom(null, 'ann', 'é', '%', '.'),
      fc.array(condition, { maxLength: 2 }),
      async (stored, rules, search, conditions) => {
        store(stored)
        const flows = conditions.map(({ outcome, isLeft: left, answer }) => ({
          ...{ flowRef: 7, outcome },
          left: left ? { stepRef: 1, further } : null,
          answer: answer && { ...answer, stepRef: 1 },
        }))
        const expected = stored
          .filter(({ name, traits, runs }) => {
            const reported = new Map(
              Object.entries(traits).map(([key, value]) => [key, { value, at: 1 }]),
            )
            return (
              rules.every(each => rulesHold(each, reported)) &&
              (search === null || name.slice(1).toLowerCase().includes(search)) &&
              conditions.every(each => meets(runs, each))
            )
          })
          .map(({ name }) => name)
          .toSorted()
        const wanted = { search, rules, flows }
        for (const by of ['id', 'lastSeen'] as const) {
          expect((await found(wanted, by)).toSorted()).toEqual(expected)
        }
        expect(await list.count(1, wanted, signal)).toBe(expected.length)
        const page = { by: 'flows' as const, isDescending: true, after: null, max: 9 }
        const first = await list.first(1, page, wanted, signal)
        expect(first.map(({ person: name }) => name).toSorted()).toEqual(expected)
      },
    ),
    {
      numRuns: rounds(300),
      // Rare: a text that is compared as another type, because the list has several.
      examples: [
        [
          [{ name: 'uAnn', lastAt: 1, traits: { plan: 'true' }, runs: [] }],
          [{ match: 'all', rules: [{ attribute: 'plan', op: 'nin', value: ['pro', true] }] }],
          ...([null, []] as [null, []]),
        ],
      ],
    },
  )
})

/** Numbers first, then texts, then those who have none. */
function sortedAs({ lastAt, traits, runs }: Person, by: PeopleSort['by']) {
  if (typeof by === 'object') {
    const value = traits[by.trait]
    return value !== undefined && ['5', '12', '5.0'].includes(value) ? Number(value) : value
  }
  if (by === 'flows') return new Set(runs.map(({ flow }) => flow)).size
  return by === 'lastSeen' ? lastAt : by === 'firstSeen' ? 1 : 0
}

test('pages of any size follow each other in every order, without gap or repetition', async () => {
  const sort = fc.record({
    by: fc.constantFrom<PeopleSort['by']>(...(['id', 'lastSeen', 'firstSeen', 'flows'] as const), {
      trait: 'plan',
    }),
    isDescending: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      people,
      sort,
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(list, impatient),
      async (stored, by, max, from) => {
        store(stored)
        const pages: { value: unknown; name: string }[] = []
        for (let after = null; ; ) {
          const page = await from.first(1, { ...by, after, max }, everyone, signal)
          pages.push(...page.map(({ value, person: name }) => ({ value, name })))
          if (page.length < max) break
          after = page.at(-1)! as never
        }
        const expected = new Map<string, unknown>(
          stored.map(each => [each.name, sortedAs(each, by.by)]),
        )
        expect(pages.map(({ name }) => name).toSorted()).toEqual([...expected.keys()].toSorted())
        const values = pages.map(({ name }) => expected.get(name) as string | number | undefined)
        const known = values.filter(value => value !== undefined)
        expect(values.slice(0, known.length)).toEqual(known)
        const rising = by.isDescending ? known.toReversed() : known
        for (const [i, value] of rising.entries()) {
          const next = rising[i + 1]
          if (next === undefined) continue
          if (typeof value === typeof next) expect(before(value, next) <= 0).toBe(true)
          else expect([typeof value, typeof next]).toEqual(['number', 'string'])
        }
      },
    ),
    {
      numRuns: rounds(300),
      // Rare: numbers, of which one would come after the other as text, beside a text that begins with digits.
      examples: [
        [
          [
            { name: 'uAnn', lastAt: 1, traits: { plan: '12' }, runs: [] },
            { name: 'uÉva', lastAt: 1, traits: { plan: '2026-01-01' }, runs: [] },
            { name: 'u😀', lastAt: 1, traits: { plan: '5' }, runs: [] },
          ],
          { by: { trait: 'plan' }, isDescending: false },
          ...([2, list] as [number, typeof list]),
        ],
      ],
    },
  )
})

const everyone = { search: null, rules: [], flows: [] }
const before = (a: string | number, b: string | number) =>
  typeof a === 'number' ? a - Number(b) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
