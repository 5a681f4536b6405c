import { expect, test } from 'bun:test'
import { syncsIn } from '../../../scripts/torture/failed-syncs.ts'
import { broken } from '../../../scripts/torture/ledger.ts'
import { disk, whyNoDisk } from '../../../scripts/torture/parts/disk.ts'

const why = whyNoDisk()
if (why !== null) console.error(`cairn: the disk is not tortured here: it ${why}`)

test.skipIf(why !== null)(
  'whatever the disk does, reads go on, nothing acknowledged is lost, and it heals by itself',
  async () => expect(broken(await disk({ isLong: false, seed: 1 }))).toEqual([]),
  180_000,
)

const write = (from: number, length: number) =>
  `71 pwrite64(16, "\\7"..., ${length}, ${from}) = ${length}`
const sync = '71 fdatasync(16) = 0'
const failed = '71 fdatasync(16) = -1 EIO (Input/output error) (INJECTED)'

test('a sync after a failed one is trusted if all that may be dropped was written again', () => {
  const before = [
    write(0, 32),
    write(32, 4_120),
    sync,
    write(4_152, 24),
    write(4_176, 4_096),
    failed,
  ]
  const hollowIn = (...after: string[]) => syncsIn([...before, ...after].join('\n')).hollow
  expect(hollowIn(write(4_152, 24), write(4_176, 4_096), sync)).toBe(0)
  expect(hollowIn(sync, write(8_272, 24), sync)).toBe(1)
  expect(hollowIn(write(4_152, 24), write(8_272, 24), sync)).toBe(1)
  // What lies beyond the end of the part that counts may be anything.
  expect(hollowIn(write(4_152, 24), sync)).toBe(0)
})
