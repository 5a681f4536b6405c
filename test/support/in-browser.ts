import * as bun from 'bun:test'
import { program } from '../browser/program.ts'
import { closePages, openPages } from './browser.ts'

/**
 * As in `bun:test`, for tests in a browser. On a machine without one they are skipped, and so is their
 * preparation. `test/web/browser.test.ts` says so.
 */

export const test = program ? bun.test : bun.test.skip
export const describe = program ? bun.describe : bun.describe.skip

/** A server, an organisation and a browser start in seconds, but the machine may be busy. */
const patience = { timeout: 300_000 }

/**
 * What a file's tests need. The pages that a test opens are closed after it, whatever comes of it: they
 * would go on polling and drawing beside all tests that follow. Those that are prepared here stay open.
 */
export const beforeAll = (prepare: () => Promise<void>): void => {
  if (!program) return
  bun.setDefaultTimeout(patience.timeout)
  bun.beforeAll(prepare, patience)
  let prepared: ReturnType<typeof openPages>
  bun.beforeEach(() => {
    prepared = openPages()
  })
  bun.afterEach(() => closePages(prepared))
}

export const afterAll = (tidy: () => Promise<void>): void => {
  if (program) bun.afterAll(tidy, patience)
}
