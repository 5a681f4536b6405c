import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { stepColumns } from '../../../src/web/dashboard/analytics/funnel.tsx'
import { type Column, sortRows, tableCsv } from '../../../src/web/dashboard/parts/table-rows.ts'

interface Row {
  name: string
  runs: number | null
}

const runs: Column<Row> = { name: 'Runs', value: row => row.runs, isNumber: true }
const name: Column<Row> = { name: 'Step', value: row => row.name }

const anyRows = fc.array(
  fc.record({ name: fc.string(), runs: fc.option(fc.integer(), { nil: null }) }),
)

test('sorting keeps every row, orders the values, and puts rows without one last', () => {
  fc.assert(
    fc.property(anyRows, fc.boolean(), (rows, isDown) => {
      const sorted = sortRows(rows, runs, isDown)
      expect(sorted).toHaveLength(rows.length)
      expect(new Set(sorted)).toEqual(new Set(rows))
      const values = sorted.map(row => row.runs)
      const known = values.filter(value => value !== null)
      expect(values).toEqual([...known, ...Array(values.length - known.length).fill(null)])
      expect(known).toEqual(known.toSorted((a, b) => (isDown ? b - a : a - b)))
    }),
  )
})

test('numbers in names sort as numbers', () => {
  const rows = ['v10', 'v9', 'v1'].map(version => ({ name: version, runs: 1 }))
  expect(sortRows(rows, name, false).map(row => row.name)).toEqual(['v1', 'v9', 'v10'])
})

test('a downloaded table has the names and values of the page, and no formula', () => {
  const bar: Column<Row> = { name: 'Share', cell: () => null }
  const seconds: Column<Row> = { name: 'Median time', unit: 'seconds', value: () => 1.5 }
  const text = tableCsv([name, bar, runs, seconds], [{ name: '=cmd()', runs: null }])
  expect(text).toBe(`\uFEFFStep,Runs,Median time (seconds)\r\n'=cmd(),,1.5\r\n`)
})

test('the first step of a downloaded funnel has the number 1, as on the page', () => {
  const numbers = {
    ...{ reached: 40, completed: 30, skipped: 0, targetMissing: 0, droppedHere: 10 },
    ...{ medianSeconds: null, p90Seconds: null },
  }
  const steps = ['', 'Invite'].map((title, position) => ({
    ...{ ...numbers, key: `s${position}`, title, position },
  })) as never[]
  const data = { totals: { starts: 40 }, flowKey: 'welcome', steps } as never
  const columns = stepColumns({ data, other: null, question: {} as never })
  const names = tableCsv(columns, steps)
    .split('\r\n')
    .map(line => line.split(',')[0]!)
  expect(names).toEqual(['\uFEFFStep', '1. s0', '2. Invite', ''])
})
