import { expect } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { cluster } from '../../../scripts/torture/parts/cluster.ts'
import { test } from '../../support/postgres.ts'

test('nodes over PostgreSQL lose nothing, and keep nothing that they refuse, whatever fails', async () => {
  expect(broken(await cluster({ isLong: false, seed: 1 }))).toEqual([])
}, 600_000)
