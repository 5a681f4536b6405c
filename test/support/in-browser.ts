import * as bun from 'bun:test'
import { program } from '../browser/program.ts'

/**
 * As in `bun:test`, for tests in a browser. On a machine without one they are skipped, and so is their
 * preparation. `test/web/browser.test.ts` says so.
 */

export const test = program ? bun.test : bun.test.skip
export const describe = program ? bun.describe : bun.describe.skip

/** A server, an organisation and a browser start in seconds, but the machine may be busy. */
const patience = { timeout: 300_000 }

export const beforeAll = (prepare: () => Promise<void>): void => {
  if (program) bun.beforeAll(prepare, patience)
}
export const afterAll = (tidy: () => Promise<void>): void => {
  if (program) bun.afterAll(tidy, patience)
}
