import { describe as anyDescribe } from 'bun:test'
import { missingPackages } from '../../scripts/support/cluster.ts'

export * from '../../scripts/support/cluster.ts'

/** Tests that need PostgreSQL, Valkey or Redis, and HAProxy; skipped if one of them is missing. */
export const describe =
  missingPackages().length > 0 ? (anyDescribe.skip as unknown as typeof anyDescribe) : anyDescribe
