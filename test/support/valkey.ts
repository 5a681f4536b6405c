import { test as anyTest } from 'bun:test'
import { valkeyProgram } from '../../scripts/support/valkey.ts'

export * from '../../scripts/support/valkey.ts'

/** A test that needs Valkey or Redis; skipped if there is none. */
export const test = valkeyProgram === null ? (anyTest.skip as typeof anyTest) : anyTest
