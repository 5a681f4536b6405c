import type { Database } from 'bun:sqlite'

/**
 * The tables that all machines over one log have with the same rows, besides the ledger. Everything else follows
 * from these and the ledger, or is about one machine.
 */
const names = [
  'organisations',
  'staging_links',
  'snippet_keys',
  'identity_secrets',
  'identity_counts',
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
  'listed_erasures',
  'presence',
  'refusals',
  'dead_letters',
  'step_reports',
  'step_health',
  'step_baselines',
  'step_fingerprints',
  'short_lived',
  'retained',
  'shared_files',
  'rebuilds',
  'catalogue_changes',
] as const

/** A table whose rows are shared. */
export interface SharedTable {
  readonly name: string
  /** The columns of its primary key. */
  readonly key: readonly string[]
  readonly columns: readonly string[]
}

/** A row, by column. */
export type Row = Record<string, string | number | null>

function tableOf(database: Database, name: string): SharedTable {
  const columns = database
    .query<{ name: string; pk: number }, [string]>('select name, pk from pragma_table_info(?)')
    .all(name)
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  return {
    name,
    key: key.map(({ name }) => name),
    columns: columns.map(({ name }) => name),
  }
}

export const sharedTables = (database: Database): readonly SharedTable[] =>
  names.map(name => tableOf(database, name))
