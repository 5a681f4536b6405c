import { describe as anyDescribe, test as anyTest } from 'bun:test'
import { postgresPrograms } from '../../scripts/support/postgres.ts'

export * from '../../scripts/support/postgres.ts'

/** A test that needs PostgreSQL; skipped if there is none. */
export const test = postgresPrograms === null ? (anyTest.skip as typeof anyTest) : anyTest
/** Tests that need PostgreSQL. */
export const describe =
  postgresPrograms === null ? (anyDescribe.skip as unknown as typeof anyDescribe) : anyDescribe
