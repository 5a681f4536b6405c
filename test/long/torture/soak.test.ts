import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { soak } from '../../../scripts/torture/parts/soak.ts'

test('at half load nothing fails, and what is acknowledged is there', async () => {
  expect(broken(await soak({ isLong: false, seed: 1 }))).toEqual([])
}, 300_000)
