import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { KnownRuns } from '../../../../src/storage/sqlite/runs/known-runs.ts'
import type { StoredRun } from '../../../../src/storage/sqlite/runs/stored-run.ts'

const people = ['uann', 'ubob', 'avisitor']
const keys = ['ra', 'rb', 'rc']
const flows = [1, 2, 3]

const run = fc.record({
  id: fc.integer({ min: 1, max: 1_000 }),
  flow_id: fc.constantFrom(...flows),
  run_key: fc.constantFrom(...keys),
  person: fc.constantFrom(...people),
})

test('a run has the row and owner that were kept last, or none if it was never kept or was forgotten', () => {
  fc.assert(
    fc.property(fc.array(run), fc.array(run), (forgotten, kept) => {
      const known = new KnownRuns()
      for (const each of forgotten) known.keep(each as StoredRun)
      known.clear()
      for (const each of kept) known.keep(each as StoredRun)
      for (const flow of flows) {
        for (const key of keys) {
          const last = kept.findLast(({ flow_id, run_key }) => flow_id === flow && run_key === key)
          expect(known.rowOf(flow, key)).toBe(last?.id ?? 0)
          const owners = people.filter(person => known.isOf(flow, key, person))
          expect(owners).toEqual(last ? [last.person] : [])
        }
      }
    }),
    { numRuns: 20 },
  )
})
