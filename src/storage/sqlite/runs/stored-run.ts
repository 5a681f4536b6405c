import type { RunState } from '../../../core/run/run.ts'
import { packAnswers, packSteps, unpackAnswers, unpackSteps } from './run-rows.ts'

/** A run as it is stored: its own events' state, and what unattributed events add to it. */
export interface StoredRun {
  id: number
  org_id: number
  flow_id: number
  run_key: string
  person: string
  least_user_id: string | null
  least_anonymous_id: string | null
  started_at: number
  last_at: number
  named_version: number | null
  version: number
  completed_at: number | null
  dismissed_at: number | null
  steps: string
  own_started_at: number | null
  own_completed_at: number | null
  /** The least version that is named by unattributed events assigned to it. */
  loose_version: number | null
  /** As `packTraits` packs them; null if none were reported. */
  traits: string | null
  /** As `packAnswers` packs them. */
  answers: string | null
}

/** What a run's own events say, for a run that has any. */
export const ownStateOf = (run: StoredRun): RunState => ({
  leastUserId: run.least_user_id,
  leastAnonymousId: run.least_anonymous_id,
  startedAt: run.own_started_at ?? run.started_at,
  lastAt: run.last_at,
  namedVersion: run.named_version,
  completedAt: run.own_completed_at,
  dismissedAt: run.dismissed_at,
  traits: run.traits,
  steps: unpackSteps(run.steps),
  answers: unpackAnswers(run.answers),
})

/** Which run a row is, and whose. */
export type RunNames = Pick<StoredRun, 'id' | 'org_id' | 'flow_id' | 'run_key' | 'person'>

/** The row of a run for which only its own events count. */
export const ownRun = (run: RunNames, own: RunState, version: number): StoredRun => ({
  id: run.id,
  org_id: run.org_id,
  flow_id: run.flow_id,
  run_key: run.run_key,
  person: run.person,
  least_user_id: own.leastUserId,
  least_anonymous_id: own.leastAnonymousId,
  started_at: own.startedAt,
  last_at: own.lastAt,
  named_version: own.namedVersion,
  version,
  completed_at: own.completedAt,
  dismissed_at: own.dismissedAt,
  steps: packSteps(own.steps),
  own_started_at: own.startedAt,
  own_completed_at: own.completedAt,
  loose_version: null,
  traits: own.traits,
  answers: packAnswers(own.answers),
})
