import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { pressure } from '../../../scripts/torture/parts/pressure.ts'

test('under ten times the load callers are refused, and nothing acknowledged is lost', async () => {
  expect(broken(await pressure({ isLong: false, seed: 1 }))).toEqual([])
}, 300_000)
