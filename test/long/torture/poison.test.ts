import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { poison } from '../../../scripts/torture/parts/poison.ts'

test('a row that the database refuses is set aside, and its neighbours are kept', async () => {
  expect(broken(await poison({ isLong: false, seed: 1 }))).toEqual([])
}, 300_000)
