import { expect, test } from 'bun:test'
import { fakeTimeLibrary } from '../../../scripts/torture/clock/fake-time.ts'
import { broken } from '../../../scripts/torture/ledger.ts'
import { clocks } from '../../../scripts/torture/parts/clocks.ts'

const isMovable = fakeTimeLibrary() !== null
if (!isMovable) console.error("cairn: the binary's clock is not set: there is no libfaketime")

test.skipIf(!isMovable)(
  'limits, runs and days stay right when the clock of the executable is set',
  async () => {
    const ledger = await clocks({ isLong: false, seed: 1 })
    expect({ broken: broken(ledger), notes: ledger.notes }).toEqual({ broken: [], notes: [] })
  },
  120_000,
)
