import type { Database } from 'bun:sqlite'
import { flowNotFound, invalid } from '../../src/core/errors.ts'
import type { FlowDefinition } from '../../src/core/flow/flow.ts'
import { storedFlowErrors } from '../../src/core/flow/lint.ts'
import {
  type FlowChangeDecision,
  newestDefinition,
  type PushOutcome,
  published,
  pushed,
  requireRoom,
  type StatusOutcome,
  withdrawn,
} from '../../src/modules/authoring/rules.ts'
import { atOnce } from '../../src/scheduling/cooperative.ts'
import type { AuthoredFlow, FlowsRead } from '../../src/storage/interfaces/authoring.ts'
import { readFlows } from '../../src/storage/sqlite/flows/reader.ts'
import { changeFlows, prepareChanges } from '../../src/storage/sqlite/flows/store.ts'

/**
 * Synchronous authoring over a connection that may write: with the rules and the storage of the product,
 * but without the promises that a thread in between needs.
 */

/** A flow as tests look at it. */
const recordOf = (flow: AuthoredFlow) => ({
  ...flow,
  version: flow.newest?.version ?? null,
  published: flow.newest?.definition ?? null,
  hasDraft: flow.draft !== null,
})

/** All flows of an organisation, by key. */
export const listFlows = (database: Database, orgRow: number) =>
  readFlows(database, orgRow).flows.map(recordOf)

/** A flow, the outcome of its change, and its status before. */
export type Changed<Outcome> = ReturnType<typeof recordOf> & {
  outcome: Outcome
  before: string | null
}

function change<D extends FlowChangeDecision<string>>(
  database: Database,
  orgRow: number,
  keys: readonly string[],
  now: () => number,
  decide: (read: FlowsRead, named: (key: string) => AuthoredFlow | undefined) => readonly D[],
): Changed<D['outcome']>[] {
  const read = readFlows(database, orgRow, keys)
  const byKey = new Map(read.flows.map(flow => [flow.key, flow]))
  const decisions = decide(read, key => byKey.get(key))
  const changes = decisions.flatMap(({ change }) => change ?? [])
  requireRoom(read, changes)
  const { revision } = read
  if (changes.length > 0) {
    const prepared = prepareChanges(database, orgRow, { revision, changes, audit: [] })
    changeFlows(database, orgRow, atOnce(prepared), now)
  }
  const flows = new Map(readFlows(database, orgRow, keys).flows.map(flow => [flow.key, flow]))
  return decisions.map(({ key, outcome }) => ({
    ...recordOf(flows.get(key)!),
    outcome,
    before: byKey.get(key)?.status ?? null,
  }))
}

export const pushFlows = (
  database: Database,
  orgRow: number,
  definitions: readonly FlowDefinition[],
  now: number,
) =>
  change<FlowChangeDecision<PushOutcome>>(
    database,
    orgRow,
    definitions.map(({ key }) => key),
    () => now,
    (_, named) => definitions.map(definition => pushed(named(definition.key), definition)),
  )

function named(keys: readonly string[], flow: (key: string) => AuthoredFlow | undefined) {
  return [...new Set(keys)].map(key => {
    const found = flow(key)
    if (!found) throw flowNotFound(key)
    return found
  })
}

/** @throws AppError `validation_failed` */
function requireSound(flows: readonly AuthoredFlow[]): void {
  const problems = flows
    .filter(({ draft, status }) => draft !== null || status !== 'published')
    .flatMap(flow =>
      storedFlowErrors(newestDefinition(flow)).map(({ path, message }) => ({
        path: `/${flow.key}${path}`,
        message,
      })),
    )
  if (problems.length > 0) throw invalid(...problems)
}

export const publishFlows = (
  database: Database,
  orgRow: number,
  keys: readonly string[],
  now: () => number,
) =>
  change<FlowChangeDecision<StatusOutcome>>(database, orgRow, keys, now, (_, flow) => {
    const requested = named(keys, flow)
    requireSound(requested)
    return requested.map(published)
  })

export const withdrawFlows = (
  database: Database,
  orgRow: number,
  keys: readonly string[],
  to: 'draft' | 'archived',
  now: number,
) =>
  change<FlowChangeDecision<StatusOutcome>>(
    database,
    orgRow,
    keys,
    () => now,
    (_, flow) => named(keys, flow).map(one => withdrawn(one, to)),
  )
