import { expect, test } from 'bun:test'
import { parts } from '../../../scripts/torture/parts.ts'
import { failedIn } from '../../../scripts/torture/result.ts'

/** The short forms of the kit; `cluster.test.ts` has the one that needs PostgreSQL. */
const { cluster, ...others } = parts

test.each(Object.entries(others))(
  'nothing acknowledged is lost, and the server recovers: %s',
  async (_, part) => {
    const result = await part.run({ isLong: false, seed: 1 })
    expect(failedIn(result)).toEqual([])
    if (result.checks.length === 0) console.error(`cairn: ${part.what}: ${result.notes}`)
  },
  300_000,
)
