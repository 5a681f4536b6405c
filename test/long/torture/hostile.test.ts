import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { hostile } from '../../../scripts/torture/parts/hostile.ts'

test('hostile clients get no more than they should, and others go on being served', async () => {
  expect(broken(await hostile({ isLong: false, seed: 1 }))).toEqual([])
}, 300_000)
