import { hostname } from 'node:os'
import type { Clock } from '../core/time/clock.ts'
import { version } from '../core/version.ts'
import { Node } from '../storage/log/postgres/member.ts'
import { PostgresLog } from '../storage/log/postgres/postgres-log.ts'
import type { NodeState } from '../storage/shared/node-state.ts'
import { schemaKnown } from '../storage/sqlite/database/migrate.ts'
import type { Following } from '../storage/sqlite/replica/shared-work.ts'
import type { Storage } from '../storage/sqlite/storage.ts'
import { movedBy } from '../test-clock.ts'
import { shareSessionKey } from './session-key.ts'
import { shareSnippet } from './snippet-versions.ts'

/** What a machine follows, whose log is to be closed after its storage. */
export type OpenFollowing = Following & { log: PostgresLog; member: Node }

/**
 * Opens the log of a database.
 *
 * @param port of the server, which is part of its name; null for a command, for which no node waits
 */
export async function openFollowing(
  url: string,
  {
    node,
    clock,
    port,
    work,
  }: {
    node: NodeState
    clock: Clock
    port: number | null
    work: Following['work']
  },
): Promise<OpenFollowing> {
  // The clock that a test has moved is not to be set.
  const now = () => clock.now() - movedBy
  const log = await PostgresLog.open(url, now)
  const member = new Node({
    ...{ queries: log.following, state: node, isCounted: port !== null },
    ...{ name: `${hostname()}:${port ?? process.pid}`, release: version, schema: schemaKnown },
    ...{ startedAt: clock.now(), monotonic: clock.monotonic, now },
  })
  return { log, member, work }
}

/**
 * Takes up everything that is in the log, and shares what a server alone keeps in files.
 *
 * @throws LogUnavailable, NotInLog
 */
export async function catchUp(storage: Storage, dataDir: string): Promise<void> {
  await storage.catchUp()
  await shareSessionKey(dataDir, (name, text) => storage.shareFile(name, text))
  await shareSnippet((name, text) => storage.shareFile(name, text))
}
