import { expect } from 'bun:test'
import { cluster } from '../../../scripts/torture/cluster.ts'
import { failedIn } from '../../../scripts/torture/result.ts'
import { test } from '../../support/postgres.ts'

test('nodes over PostgreSQL lose nothing, and store nothing that they reject, whatever fails', async () => {
  expect(failedIn(await cluster.run({ isLong: false, seed: 1 }))).toEqual([])
}, 600_000)
