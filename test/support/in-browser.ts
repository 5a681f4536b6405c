import * as bun from 'bun:test'
import { hasBrowser } from '../browser/program.ts'

/**
 * As in `bun:test`, for tests in a browser: on a machine without one they are skipped, and what they
 * prepare is not prepared. `test/web/browser.test.ts` says so.
 */

export const test = hasBrowser ? bun.test : bun.test.skip
export const describe = hasBrowser ? bun.describe : bun.describe.skip

export const beforeAll = (prepare: () => Promise<void>): void => {
  if (hasBrowser) bun.beforeAll(prepare)
}
export const afterAll = (tidy: () => Promise<void>): void => {
  if (hasBrowser) bun.afterAll(tidy)
}
