import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { failpoints } from '../../../scripts/torture/parts/failpoints.ts'

test('a failure at any point loses nothing and heals without an operator', async () => {
  expect(broken(await failpoints({ isLong: false, seed: 1 }))).toEqual([])
}, 600_000)
