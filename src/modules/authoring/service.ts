import { AppError, flowNotFound, invalid, type Problem } from '../../core/errors.ts'
import type { FlowDifference } from '../../core/flow/difference.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import type { StoredVersion } from '../../core/flow/forms.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { type Clock, isoTimeOrNull } from '../../core/time/clock.ts'
import { patientSlices } from '../../scheduling/cooperative.ts'
import type {
  AuthoredFlow,
  FlowOrigin,
  FlowStore,
  FlowsRead,
  StoredChange,
  Witness,
} from '../../storage/interfaces/authoring.ts'
import {
  after,
  etagOf,
  type FlowChangeDecision,
  newestDefinition,
  type PushOutcome,
  published,
  pushed,
  requireRoom,
  requireUnlocked,
  type StatusOutcome,
  unlocked,
  withdrawn,
} from './rules.ts'

/** Who makes a change, and their note about it. */
export interface By {
  actor: Actor
  note?: string | null
}

/** A flow after an operation, and what the operation did to it. */
export interface Changed<Outcome> {
  flow: AuthoredFlow
  outcome: Outcome
  /** The status before; null for a new flow. */
  before: AuthoredFlow['status'] | null
}

/** A pushed flow, and what publishing did to it if that was asked for. */
export interface Pushed extends Changed<PushOutcome> {
  publication: StatusOutcome | null
}

/** One side of a comparison: the draft, or a version by its number. */
export type Side = 'draft' | number

export interface PushOptions {
  publish?: boolean
  /** Returns what would be done, and does nothing. */
  isTrial?: boolean
  isExpected?: Expected
  /** Where flows come from, by their keys; unchanged if absent. */
  origins?: ReadonlyMap<string, FlowOrigin>
  /** The action in the audit log, if it is not a push. */
  action?: string
  witness?: Witness
}

const anything: Expected = () => {}

/** How many times a change is retried because somebody else changed the organisation first. */
export const maxTries = 20

export const othersChange = () =>
  new AppError('overloaded', 'Others are changing this organisation too; try again', {
    retryAfterSeconds: 1,
  })

const versionNotFound = () =>
  new AppError('version_not_found', 'The flow has no version with this number')

/** A flow after its change, with what only storage knows about it. */
function asStored(flow: AuthoredFlow, stored: StoredChange | undefined): AuthoredFlow {
  if (!stored) return flow
  const { id, updatedAt, publishedAt } = stored
  const newest = flow.newest && { ...flow.newest, publishedAt: publishedAt! }
  return { ...flow, id, updatedAt, newest }
}

/** @throws AppError `flow_not_found` */
function requireAll(flows: readonly AuthoredFlow[], keys: readonly string[]): void {
  const known = new Set(flows.map(({ key }) => key))
  const missing = keys.filter(key => !known.has(key))
  if (missing.length > 0) throw flowNotFound(...missing)
}

/**
 * What authors do with flows: push, publish, withdraw, roll back, compare. A change is decided from what
 * was read, and made only if nobody has changed the organisation since; otherwise it is decided again.
 */
export class Authoring {
  constructor(
    private readonly store: FlowStore,
    private readonly flowWork: FlowWork,
    private readonly clock: Clock,
  ) {}

  /** All flows of an organisation, by key. */
  async flows(orgRef: OrganisationRef): Promise<readonly AuthoredFlow[]> {
    return (await this.store.read(orgRef)).flows
  }

  /** Flows by their keys, in the order of the given keys. @throws AppError `flow_not_found` */
  async flowsNamed(
    orgRef: OrganisationRef,
    keys: readonly string[],
  ): Promise<readonly AuthoredFlow[]> {
    const { flows } = await this.store.read(orgRef, keys)
    requireAll(flows, keys)
    const byKey = new Map(flows.map(flow => [flow.key, flow]))
    return keys.map(key => byKey.get(key)!)
  }

  async flow(orgRef: OrganisationRef, key: string): Promise<AuthoredFlow> {
    const [flow] = await this.flowsNamed(orgRef, [key])
    return flow!
  }

  /**
   * Makes each definition the draft of its flow, all or none, and publishes them if that is asked for.
   *
   * @throws AppError `too_many_flows`; `validation_failed` if something to be published has mistakes
   */
  async push(
    orgRef: OrganisationRef,
    definitions: readonly FlowDefinition[],
    by: By,
    {
      publish = false,
      isTrial = false,
      isExpected = anything,
      origins,
      action = publish ? 'flow.push_and_publish' : 'flow.push',
      witness,
    }: PushOptions = {},
  ): Promise<Pushed[]> {
    const keys = definitions.map(({ key }) => key)
    type PushDecision = FlowChangeDecision<PushOutcome> & { publication: StatusOutcome | null }
    const decide = async ({ flows }: FlowsRead): Promise<PushDecision[]> => {
      const byKey = new Map(flows.map(flow => [flow.key, flow]))
      for (const key of keys) isExpected(byKey.get(key) ?? null, key)
      const pushes = definitions.map(definition =>
        pushed(byKey.get(definition.key), definition, origins?.get(definition.key)),
      )
      if (!publish) return pushes.map(push => ({ ...push, publication: null }))
      const now = this.clock.now()
      const drafts = pushes.map(push => after(byKey.get(push.key), push, now))
      await this.requireSound(orgRef, drafts)
      return pushes.map((push, i) => {
        const { change, outcome } = published(drafts[i]!)
        const { origin } = push.change ?? {}
        const whole = change && { ...change, ...(origin && { origin }) }
        return { ...push, change: whole ?? push.change, publication: outcome }
      })
    }
    const changed = await this.change(orgRef, keys, by, action, decide, {
      isTrial,
      ...(witness && { witness }),
    })
    return changed.map(({ decision, ...rest }) => ({
      ...rest,
      outcome: decision.outcome,
      publication: decision.publication,
    }))
  }

  /**
   * Publishes drafts as the next version, or shows withdrawn flows again, all or none.
   *
   * @throws AppError `flow_not_found`; `validation_failed` with every mistake in what would be shown
   */
  publish(orgRef: OrganisationRef, keys: readonly string[], by: By, isExpected?: Expected) {
    return this.changeStatus(orgRef, keys, by, 'flow.publish', published, isExpected, flows =>
      this.requireSound(orgRef, flows),
    )
  }

  /** Hides flows from pages, all or none. @throws AppError `flow_not_found` */
  withdraw(orgRef: OrganisationRef, keys: readonly string[], to: 'draft' | 'archived', by: By) {
    const action = to === 'draft' ? 'flow.unpublish' : 'flow.archive'
    return this.changeStatus(orgRef, keys, by, action, flow => withdrawn(flow, to))
  }

  /**
   * Makes a definition the draft of the flow with its key, or makes that flow.
   *
   * @param isExpected see `Expected`; null stands for a flow that does not exist
   */
  async putDraft(
    orgRef: OrganisationRef,
    definition: FlowDefinition,
    by: By,
    isExpected: Expected,
  ): Promise<AuthoredFlow> {
    const { key } = definition
    const [changed] = await this.change(
      orgRef,
      [key],
      by,
      'flow.edit',
      async ({ flows: [flow] }) => {
        isExpected(flow ?? null, key)
        if (flow) requireUnlocked(flow)
        return [pushed(flow, definition)]
      },
    )
    return changed!.flow
  }

  /**
   * Makes another definition of a flow its draft.
   *
   * @param edited returns the new draft for the flow as it is; called again if somebody else changed the
   *   organisation first
   * @throws AppError `flow_not_found`, and what `isExpected` and `edited` throw
   */
  async edit(
    orgRef: OrganisationRef,
    key: string,
    by: By,
    { isExpected, action }: { isExpected: Expected; action: string },
    edited: (flow: AuthoredFlow) => FlowDefinition,
  ): Promise<AuthoredFlow> {
    const [changed] = await this.change(orgRef, [key], by, action, async ({ flows: [flow] }) => {
      if (!flow) throw flowNotFound(key)
      isExpected(flow, key)
      requireUnlocked(flow)
      return [pushed(flow, edited(flow))]
    })
    return changed!.flow
  }

  /** Lets a flow that comes from a repository be changed here again. @throws AppError `flow_not_found` */
  async unlock(orgRef: OrganisationRef, key: string, by: By): Promise<AuthoredFlow> {
    const [changed] = await this.changeStatus(orgRef, [key], by, 'flow.unlock', unlocked)
    return changed!.flow
  }

  /** Discards a draft. A flow that was never published keeps its draft. @throws AppError */
  discardDraft(orgRef: OrganisationRef, key: string, by: By, isExpected: Expected) {
    return this.edit(orgRef, key, by, { isExpected, action: 'flow.discard' }, ({ newest }) => {
      if (!newest) throw versionNotFound()
      return newest.definition
    })
  }

  /** The versions of a flow, newest first. @throws AppError `flow_not_found` */
  async versions(orgRef: OrganisationRef, key: string) {
    await this.flow(orgRef, key)
    return this.store.versions(orgRef, key)
  }

  /** @throws AppError `flow_not_found`, `version_not_found` */
  async version(orgRef: OrganisationRef, key: string, version: number): Promise<StoredVersion> {
    await this.flow(orgRef, key)
    const found = await this.store.version(orgRef, key, version)
    if (!found) throw versionNotFound()
    return found
  }

  /**
   * Makes an older version the draft again, and publishes it if that is asked for. It gets a new number,
   * because numbers only grow.
   */
  async restore(
    orgRef: OrganisationRef,
    key: string,
    version: number,
    by: By,
    { publish, isExpected }: { publish: boolean; isExpected: Expected },
  ): Promise<Pushed> {
    const { definition } = await this.version(orgRef, key, version)
    const note = by.note ?? `version ${version}`
    const [restored] = await this.push(
      orgRef,
      [definition],
      { ...by, note },
      { publish, isExpected, action: 'flow.restore' },
    )
    return restored!
  }

  /** What would change if one side replaced the other. @throws AppError */
  async difference(
    orgRef: OrganisationRef,
    key: string,
    from: Side,
    to: Side,
  ): Promise<FlowDifference> {
    const flow = await this.flow(orgRef, key)
    const sideOf = async (side: Side): Promise<FlowDefinition> =>
      side === 'draft' ? newestDefinition(flow) : (await this.version(orgRef, key, side)).definition
    const [before, next, parts] = await Promise.all([
      sideOf(from),
      sideOf(to),
      this.store.publishedParts(orgRef, key),
    ])
    const baseline = {
      definition: before,
      stepKeys: new Set(parts.stepKeys),
      itemKeys: new Set(parts.itemKeys),
    }
    const named = (side: Side) => `${key} (${side === 'draft' ? side : `version ${side}`})`
    return this.flowWork(orgRef, 'flowDifference', baseline, next, [named(from), named(to)])
  }

  /**
   * Checks what pages would be shown of flows, which may have been stored under older rules.
   *
   * @throws AppError `validation_failed`
   */
  private async requireSound(
    orgRef: OrganisationRef,
    flows: readonly AuthoredFlow[],
  ): Promise<void> {
    const problems: Problem[] = []
    for (const flow of flows) {
      if (flow.draft === null && flow.status === 'published') continue
      const errors = await this.flowWork(orgRef, 'storedFlowErrors', newestDefinition(flow))
      problems.push(
        ...errors.map(({ path, message }) => ({ path: `/${flow.key}${path}`, message })),
      )
    }
    if (problems.length > 0) throw invalid(...problems)
  }

  private async changeStatus(
    orgRef: OrganisationRef,
    keys: readonly string[],
    by: By,
    action: string,
    decide: (flow: AuthoredFlow) => FlowChangeDecision<StatusOutcome>,
    isExpected: Expected = anything,
    require: (flows: readonly AuthoredFlow[]) => Promise<void> = async () => {},
  ): Promise<Changed<StatusOutcome>[]> {
    const unique = [...new Set(keys)]
    const changed = await this.change(orgRef, unique, by, action, async ({ flows }) => {
      requireAll(flows, unique)
      const byKey = new Map(flows.map(flow => [flow.key, flow]))
      const requested = unique.map(key => byKey.get(key)!)
      for (const flow of requested) isExpected(flow, flow.key)
      await require(requested)
      return requested.map(decide)
    })
    return changed.map(({ decision, ...rest }) => ({ ...rest, outcome: decision.outcome }))
  }

  /** Reads, decides and changes; repeats this if somebody else changed the organisation first. */
  private async change<D extends FlowChangeDecision<string>>(
    orgRef: OrganisationRef,
    keys: readonly string[],
    by: By,
    action: string,
    decide: (read: FlowsRead) => Promise<readonly D[]>,
    { isTrial = false, witness }: Pick<PushOptions, 'isTrial' | 'witness'> = {},
  ): Promise<{ flow: AuthoredFlow; before: AuthoredFlow['status'] | null; decision: D }[]> {
    // With fifty flows each of these takes milliseconds, in which pages would wait, so others get a turn in
    // between.
    const slices = patientSlices()
    for (let tries = 1; tries <= maxTries; tries++) {
      await slices.rest()
      const read = await this.store.read(orgRef, keys)
      await slices.rest()
      const before = new Map(read.flows.map(flow => [flow.key, flow]))
      const decisions = await this.decided(orgRef, () => decide(read))
      const changes = decisions.flatMap(({ change }) => change ?? [])
      requireRoom(read, changes)
      const audit = () => this.audit(decisions, before, by, action)
      await slices.rest()
      const stored =
        changes.length === 0 || isTrial
          ? []
          : await this.store.change(orgRef, {
              ...{ revision: read.revision, changes, audit: audit() },
              ...(witness && { witness }),
            })
      if (stored === null) continue
      const known = new Map(stored.map(one => [one.key, one]))
      return decisions.map(decision => {
        const { key } = decision
        const flow = after(before.get(key), decision, this.clock.now())
        const itsBefore = before.get(key)?.status ?? null
        return { flow: asStored(flow, known.get(key)), before: itsBefore, decision }
      })
    }
    throw othersChange()
  }

  /** If a flow is not what the caller has read, adds to the error who changed it and when. */
  private async decided<T>(orgRef: OrganisationRef, decide: () => Promise<T>): Promise<T> {
    try {
      return await decide()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'precondition_failed') throw error
      const { key, etag } = error.fields as { key: string; etag: string | null }
      const last = await this.store.lastChange(orgRef, key)
      const changed = { changedBy: last?.by ?? null, changedAt: isoTimeOrNull(last?.at ?? null) }
      throw new AppError(error.code, error.message, { fields: { etag, ...changed } })
    }
  }

  private audit(
    decisions: readonly FlowChangeDecision<string>[],
    before: ReadonlyMap<string, AuthoredFlow>,
    { actor, note = null }: By,
    action: string,
  ): AuditEntry[] {
    const at = this.clock.now()
    const told = (flow: AuthoredFlow) => ({
      status: flow.status,
      version: flow.newest?.version ?? null,
      hasDraft: flow.draft !== null,
      ...(flow.source && { source: flow.source }),
      ...(flow.isLocked && { isLocked: true }),
    })
    return decisions.flatMap(decision => {
      const { key, change } = decision
      if (!change) return []
      const flow = before.get(key)
      return {
        at,
        actor,
        action,
        subject: key,
        before: flow ? told(flow) : null,
        after: told(after(flow, decision, at)),
        note,
      }
    })
  }
}

/**
 * Throws if a flow is not the one that the caller has read.
 *
 * @throws AppError `precondition_failed`, `precondition_required`
 */
export type Expected = (flow: AuthoredFlow | null, key: string) => void

/**
 * What the headers of a request require of a flow (RFC 9110, sections 13.1.1 and 13.1.2). `If-Match`: the
 * flow has one of these tags, compared strongly, or exists if it is `*`. `If-None-Match: *`: the flow does
 * not exist.
 */
export function expectationOf(ifMatch: string | null, ifNoneMatch: string | null): Expected {
  const tags = ifMatch?.split(',').map(tag => tag.trim()) ?? []
  return (flow, key) => {
    if (ifMatch === null && ifNoneMatch?.trim() !== '*') {
      throw new AppError(
        'precondition_required',
        'Say what you have read: its ETag as If-Match, or If-None-Match: * for a new flow',
      )
    }
    const isMet =
      flow === null ? ifMatch === null : tags.includes('*') || tags.includes(etagOf(flow))
    if (isMet) return
    throw new AppError('precondition_failed', 'The flow is no longer what you have read', {
      fields: { key, etag: flow && etagOf(flow) },
    })
  }
}
