import type { Database } from 'bun:sqlite'
import { type MovedTable, tableOf } from '../rows/tables.ts'

/** What management keeps, in an order in which rows may refer to those of tables before. */
const names = [
  'organisations',
  'staging_links',
  'snippet_keys',
  'identity_secrets',
  'flows',
  'flow_versions',
  'steps',
  'items',
  'management_tokens',
  'dashboard_sessions',
  'dashboard_links',
  'alert_settings',
  'alerts',
  'webhooks',
  'deliveries',
  'audit_log',
  'erasures',
  'server_state',
  // The last one: who finds a change there has all that it is about.
  'catalogue_changes',
] as const

/** The tables of which every node has a copy. */
export const copiedTables = (database: Database): readonly MovedTable[] =>
  // An erasure that is taken back is still known to be of its organisation.
  names.map(name =>
    tableOf(database, name, name === 'erasures' ? ['org_id', 'key', 'person'] : undefined),
  )
