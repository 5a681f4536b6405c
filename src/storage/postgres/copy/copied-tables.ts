import type { Database } from 'bun:sqlite'
import { type MovedTable, tableOf } from '../rows/tables.ts'

/** The tables of management, in an order in which rows refer only to rows of earlier tables. */
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
  'requested_sends',
  'audit_log',
  'erasures',
  'server_state',
  // Last, because whoever finds a change there must already have all that it is about.
  'catalogue_changes',
] as const

/** The tables of which every node has a copy. */
export const copiedTables = (database: Database): readonly MovedTable[] =>
  // The key has the organisation, so that it is still known when an erasure is taken back.
  names.map(name =>
    tableOf(database, name, name === 'erasures' ? ['org_id', 'key', 'person'] : undefined),
  )
