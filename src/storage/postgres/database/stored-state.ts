import {
  refusesMany,
  summedHours,
  type UserHashCounts,
} from '../../../core/organisation/verified-identity.ts'
import type { WebhookState } from '../../../modules/alerts/port.ts'
import { identityHoursOver } from '../../shared/presence-reader.ts'
import {
  type DeadLetters,
  deadLettersSql,
  noDeadLetters,
  webhookStatesSql,
} from '../../sqlite/database/inspect.ts'
import { dayOf } from '../events/event-rows.ts'
import { leftBehind } from '../move/moves.ts'
import { daysWithTable } from '../retention/partitions.ts'
import { Postgres } from './connection.ts'

/** What is stored in a usable database, as far as its operator should know about it. */
export interface StoredState {
  hasOrganisation: boolean
  deadLetters: DeadLetters
  webhooks: readonly (WebhookState & { slug: string })[]
  unfinishedErasures: number
  /** Organisations that require hashes of user ids and refuse many, with the counts of the last 24 hours. */
  refusingIdentities: readonly { slug: string; counts: UserHashCounts }[]
  /** How many of the next days have a table for their events. */
  daysAhead: number
  /** How many nodes are running. */
  nodes: number
  /** How much of the data directory's own database is missing from this one. */
  leftBehind: 'all' | 'changes' | 'nothing'
}

/** Only reads. @param dataDir this machine's */
export async function readStoredState(
  url: string,
  dataDir: string | null,
  now: number,
): Promise<StoredState> {
  const postgres = Postgres.open(url, { most: 1 })
  try {
    const counts = (await postgres.get<{
      hasOrganisation: boolean
      erasures: number
      nodes: number
    }>(
      `select exists (select 1 from organisations) as "hasOrganisation",
        (select count(*) from erasures where finished_at is null) as erasures,
        (select count(*) from nodes where lease_until > clock_timestamp()) as nodes`,
    ))!
    const today = dayOf(now)
    return {
      hasOrganisation: counts.hasOrganisation,
      deadLetters: (await postgres.get<DeadLetters>(deadLettersSql)) ?? noDeadLetters,
      webhooks: await postgres.all(webhookStatesSql),
      unfinishedErasures: counts.erasures,
      refusingIdentities: await refusingIdentities(postgres, now),
      daysAhead: (await daysWithTable(postgres)).filter(day => day > today).length,
      nodes: counts.nodes,
      leftBehind: dataDir === null ? 'nothing' : await leftBehind(postgres, dataDir),
    }
  } finally {
    await postgres.close()
  }
}

async function refusingIdentities(postgres: Postgres, now: number) {
  const hoursOf = identityHoursOver(postgres)
  const enforcing = await postgres.all<{ id: number; slug: string }>(
    "select id, slug from organisations where identity_mode = 'enforce' order by slug",
  )
  const all: StoredState['refusingIdentities'][number][] = []
  for (const { id, slug } of enforcing) {
    all.push({ slug, counts: summedHours(await hoursOf(id, now)) })
  }
  return all.filter(({ counts }) => refusesMany(counts))
}
