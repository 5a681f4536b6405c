import { describe, expect, test } from 'bun:test'
import { faults, tried } from '../../../scripts/torture/faults.ts'
import { failedIn } from '../../../scripts/torture/verdict.ts'

/** Tests the short form of some faults; `scripts/torture/run --long` has the long one. */
export function testFaults(names: readonly string[]): void {
  describe('nothing acknowledged is lost, nothing is stored twice or after a rejection, and the server recovers', () => {
    for (const name of names) {
      const { what, missing } = faults[name]!
      const need = missing?.() ?? null
      if (need !== null) console.error(`cairn: not tested without ${need}: ${what}`)
      test.skipIf(need !== null)(
        `${name}: ${what}`,
        async () => expect(failedIn(await tried(name, false, 1))).toEqual([]),
        600_000,
      )
    }
  })
}
