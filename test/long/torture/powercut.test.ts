import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { powercut } from '../../../scripts/torture/parts/powercut.ts'
import { whyNoRecording } from '../../../scripts/torture/power/recording.ts'

const why = await whyNoRecording()
if (why !== null) console.error(`cairn: the power cut is not tried: ${why}`)

test.skipIf(why !== null)(
  'what was acknowledged is there once after a power cut, whatever the disk keeps of the rest',
  async () => {
    const ledger = await powercut({ isLong: false, seed: 1 })
    expect(broken(ledger)).toEqual([])
  },
  120_000,
)
