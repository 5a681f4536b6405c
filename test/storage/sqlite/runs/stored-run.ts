import type { StoredRun } from '../../../../src/storage/sqlite/runs/stored-run.ts'

/** A run of Ann's as it is stored. */
export const storedRun = (key: string, more: Partial<StoredRun> = {}): StoredRun => ({
  id: 1,
  org_id: 1,
  flow_id: 1,
  run_key: key,
  person: 'uann',
  least_user_id: 'ann',
  least_anonymous_id: null,
  started_at: 0,
  last_at: 0,
  named_version: null,
  version: 1,
  completed_at: null,
  dismissed_at: null,
  steps: '',
  own_started_at: 0,
  own_completed_at: null,
  loose_version: null,
  traits: null,
  answers: null,
  ...more,
})
