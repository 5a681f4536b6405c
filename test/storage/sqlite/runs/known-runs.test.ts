import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { KnownRuns } from '../../../../src/storage/sqlite/runs/known-runs.ts'
import { storedRun } from './stored-run.ts'

const run = fc.record({
  id: fc.integer({ min: 1, max: 1_000 }),
  flow_id: fc.integer({ min: 1, max: 3 }),
  run_key: fc.constantFrom('ra', 'rb', 'rc'),
  person: fc.constantFrom('uann', 'ubob', 'avisitor'),
})

test('the row and the owner that were kept last are known of each run', () => {
  fc.assert(
    fc.property(fc.array(run), kept => {
      const known = new KnownRuns()
      const last = new Map<string, (typeof kept)[number]>()
      for (const each of kept) {
        known.keep(storedRun(each.run_key, each))
        last.set(`${each.flow_id} ${each.run_key}`, each)
      }
      for (const { id, flow_id, run_key, person } of last.values()) {
        expect(known.rowOf(flow_id, run_key)).toBe(id)
        for (const one of ['uann', 'ubob', 'avisitor']) {
          expect(known.isOf(flow_id, run_key, one)).toBe(one === person)
        }
      }
    }),
    { numRuns: 20 },
  )
})

test('nothing is known of a run that was never kept, or that was forgotten', () => {
  const known = new KnownRuns()
  known.keep(storedRun('ra'))
  expect(known.rowOf(1, 'rb')).toBe(0)
  expect(known.isOf(1, 'rb', 'uann')).toBe(false)
  known.clear()
  expect(known.rowOf(1, 'ra')).toBe(0)
  expect(known.isOf(1, 'ra', 'uann')).toBe(false)
})

test('nearly all of a hundred thousand runs are known if each is written once', () => {
  const known = new KnownRuns()
  const runs = Array.from({ length: 100_000 }, (_, i) => storedRun(`r${i}`, { id: i + 1 }))
  for (const each of runs) known.keep(each)
  const right = runs.filter(({ id, run_key }) => known.rowOf(1, run_key) === id)
  expect(right.length).toBeGreaterThan(99_000)
})
