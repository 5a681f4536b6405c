import { expect, test } from 'bun:test'
import { broken } from '../../../scripts/torture/ledger.ts'
import { backup } from '../../../scripts/torture/parts/backup.ts'

if (Bun.which('strace') === null) {
  console.error('cairn: backups are killed at random moments alone, not at each call: needs strace')
}

test('a killed backup leaves none or a whole one, a killed restore the old data or the new', async () => {
  const ledger = await backup({ isLong: false, seed: 1 })
  expect(ledger.notes).toEqual([])
  expect(broken(ledger)).toEqual([])
}, 300_000)
