import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { costs } from '../../../scripts/torture/parts/costs.ts'

test('no request costs more CPU than it is worth', async () => {
  expect(broken(await costs({ isLong: false, seed: 1 }))).toEqual([])
}, 300_000)
