import { describe, expect, test } from 'bun:test'
import { parts } from '../../../scripts/torture/parts.ts'
import { failedIn } from '../../../scripts/torture/result.ts'

/** Tests the short forms of some parts of the kit. */
export function testParts(names: readonly string[]): void {
  describe('nothing acknowledged is lost or made up, and the server recovers', () => {
    for (const name of names) {
      const { what, missing, run } = parts[name]!
      const need = missing?.() ?? null
      if (need !== null) console.error(`cairn: not tested without ${need}: ${what}`)
      test.skipIf(need !== null)(
        `${name}: ${what}`,
        async () => expect(failedIn(await run({ isLong: false, seed: 1 }))).toEqual([]),
        300_000,
      )
    }
  })
}
