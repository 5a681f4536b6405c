import { describe, expect, test } from 'bun:test'
import { parts } from '../../../scripts/torture/parts.ts'
import { failedIn } from '../../../scripts/torture/result.ts'

/** The short forms of the kit; `cluster.test.ts` has the one that needs PostgreSQL. */
const { cluster, ...others } = parts

describe('nothing acknowledged is lost or made up, and the server recovers', () => {
  for (const [name, { what, missing, run }] of Object.entries(others)) {
    const need = missing?.() ?? null
    if (need !== null) console.error(`cairn: not tested without ${need}: ${what}`)
    test.skipIf(need !== null)(
      `${name}: ${what}`,
      async () => expect(failedIn(await run({ isLong: false, seed: 1 }))).toEqual([]),
      300_000,
    )
  }
})
