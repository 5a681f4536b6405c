import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { kill } from '../../../scripts/torture/parts/kill.ts'

test('whatever was acknowledged is there once after SIGKILL, at work and in every operation', async () => {
  expect(broken(await kill({ isLong: false, seed: 1 }))).toEqual([])
}, 600_000)
