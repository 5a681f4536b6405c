import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { retention } from '../../../scripts/torture/parts/retention.ts'

test('old events go while new ones come and the server is killed, and nothing else does', async () => {
  expect(broken(await retention({ isLong: false, seed: 1 }))).toEqual([])
}, 300_000)
