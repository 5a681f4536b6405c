import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { litestreamProgram } from '../../../scripts/torture/litestream/program.ts'
import { litestream } from '../../../scripts/torture/parts/litestream.ts'

// `scripts/torture/run --only litestream` brings it.
test.skipIf(litestreamProgram() === null)(
  'a replica of Litestream holds all but the last moment, and is restored by Cairn',
  async () => {
    expect(broken(await litestream({ isLong: false, seed: 1 }))).toEqual([])
  },
  120_000,
)
