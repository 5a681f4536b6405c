import type { EventBatch, NewEvent, PersonIds } from '../../../src/core/event/event.ts'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import type { FlowDefinition } from '../../../src/core/flow/flow.ts'
import type { Actor, AuditEntry } from '../../../src/core/organisation/audit.ts'
import type { FlowEntry, Organisation } from '../../../src/core/organisation/catalogue.ts'
import { newId, newSnippetKey } from '../../../src/core/organisation/ids.ts'
import type { TimeRange } from '../../../src/core/time/time-range.ts'
import { parseQuery } from '../../../src/modules/analytics/query.ts'
import type { AnalyticsQuery } from '../../../src/modules/analytics/schema.ts'
import { analyticsService } from '../../../src/modules/analytics/service.ts'
import type { FlowChange } from '../../../src/storage/interfaces/authoring.ts'
import type { LoggedEvent } from '../../../src/storage/interfaces/events.ts'
import type { OrganisationChange } from '../../../src/storage/interfaces/organisations.ts'
import type { RequestedRuns, RunRow } from '../../../src/storage/interfaces/runs.ts'
import type { RefEvent, RefFlow } from '../../support/analytics-reference.ts'
import type { Store } from './store.ts'

export const actor: Actor = { via: 'command line', name: 'test', requestId: null }

/** A line of the audit log. */
export const auditOf = (action: string, subject = 'test', at = 0): AuditEntry => ({
  at,
  actor,
  action,
  subject,
  before: null,
  after: null,
  note: null,
})

/** All runs of a flow, unless something else is asked for. */
export const requestedRuns = (requested: Partial<RequestedRuns> = {}): RequestedRuns => ({
  after: null,
  max: 9,
  maxScanned: 100,
  started: null,
  answered: false,
  filter: null,
  ...requested,
})

/** All time. The other fields of a range are for callers who ask with dates. */
export const always = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER } as TimeRange

const definitions = new Map<string, FlowDefinition>()

/** A flow as in a flow file. Cached, because the laws read the same ones again and again. */
export function definitionOf(flow: object): FlowDefinition {
  const text = JSON.stringify(flow)
  const known = definitions.get(text)
  if (known) return known
  const { flows, problems } = readFlowFile(text, { format: 'json' })
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(JSON.stringify(errors))
  definitions.set(text, flows[0]!)
  return flows[0]!
}

const partKey = (flow: string, part: string) => `${flow}/${part}`

/** An event as in the reference, or about no flow in particular, with the fields that the reference lacks. */
export type EventOf = Omit<RefEvent, 'at'> &
  Partial<Pick<NewEvent, 'url' | 'reason' | 'properties'>> & { at?: number }

type FlowRef = FlowEntry['ref']
type StepRef = Parameters<FlowEntry['steps']['get']>[0]
type ItemRef = NonNullable<ReturnType<FlowEntry['itemRefs']['get']>>

let made = 0

/**
 * One organisation of a store, used as the modules use it. The references by which ports name an
 * organisation, a flow, a step or an item are passed on as they are, and never inspected.
 */
export class Tenant {
  private readonly flowIds = new Map<string, string>()
  private readonly flowRefs = new Map<string, FlowRef>()
  private readonly stepRefs = new Map<string, StepRef>()
  private readonly itemRefs = new Map<string, ItemRef>()

  private constructor(
    readonly store: Store,
    readonly id: string,
    readonly slug: string,
    /** Its first. */
    readonly snippetKey: string,
    readonly ref: Organisation['ref'],
  ) {}

  static async of(store: Store): Promise<Tenant> {
    const id = newId('org')
    const slug = `tenant-${++made}`
    const snippetKey = newSnippetKey()
    const createdAt = store.clock.now()
    const added = await store.management.organisations.add(
      { id, slug, name: slug, snippetKey, createdAt },
      auditOf('organisation.create', id, createdAt),
    )
    if (added !== 'added') throw new Error(added)
    const known = await store.stores.catalogue().organisationByName(id)
    return new Tenant(store, id, slug, snippetKey, known!.ref)
  }

  /** An organisation with the flows of a reference, published when the reference says. */
  static async withFlows(store: Store, flows: readonly RefFlow[]): Promise<Tenant> {
    const tenant = await Tenant.of(store)
    const versions = flows.flatMap(({ key, versions }) =>
      versions.map(({ publishedAt, steps, items }) => ({
        publishedAt,
        definition: definitionOf({
          key,
          steps: steps.map(step => ({ ...step, title: step.key, kind: 'modal' })),
          checklist:
            items.length === 0
              ? null
              : {
                  items: items.map(({ key, completeOn }) => ({
                    key,
                    title: key,
                    completeOn: completeOn === null ? null : { event: completeOn },
                  })),
                },
        }),
      })),
    )
    for (const { publishedAt, definition } of versions.toSorted(
      (a, b) => a.publishedAt - b.publishedAt,
    )) {
      store.clock.moveTo(publishedAt)
      await tenant.publish(definition)
    }
    return tenant
  }

  private get now() {
    return this.store.clock.now()
  }

  /** As the catalogue has it. */
  async organisation(): Promise<Organisation> {
    return (await this.store.stores.catalogue().organisationByName(this.id))!
  }

  /** Changes flows as of now. */
  async changeFlows(...changes: FlowChange[]): Promise<void> {
    const { flows } = this.store.management
    const { revision } = await flows.read(this.ref, [])
    const audit = changes.map(({ key }) => auditOf('flow.change', key, this.now))
    const stored = await flows.change(this.ref, { revision, changes, audit })
    for (const { key, id } of stored!) this.flowIds.set(key, id)
  }

  /** Publishes definitions, and remembers the references of their flows, steps and items. */
  async publish(...definitions: FlowDefinition[]): Promise<void> {
    await this.changeFlows(
      ...definitions.map(
        (publish): FlowChange => ({ key: publish.key, status: 'published', draft: null, publish }),
      ),
    )
    for (const { key } of definitions) {
      const flow = await this.flow(key)
      this.flowRefs.set(key, flow.ref)
      for (const step of flow.latest!.steps) {
        this.stepRefs.set(partKey(key, step.key), flow.stepRefs.get(step.id)!)
      }
      for (const item of flow.latest!.checklist?.items ?? []) {
        this.itemRefs.set(partKey(key, item.key), flow.itemRefs.get(item.id)!)
      }
    }
  }

  async withdraw(key: string, status: 'draft' | 'archived'): Promise<void> {
    await this.changeFlows({ key, status, draft: null, publish: null })
  }

  /** As the catalogue has it. */
  async flow(key: string): Promise<FlowEntry> {
    return (await this.store.stores.catalogue().flow(this.flowId(key)))!
  }

  flowId(key: string): string {
    return this.flowIds.get(key)!
  }

  flowRef(key: string): FlowRef {
    return this.flowRefs.get(key)!
  }

  stepRef(flow: string, step: string): StepRef {
    return this.stepRefs.get(partKey(flow, step))!
  }

  /** Null where the flow never had such an item. */
  itemRef(flow: string, item: string): ItemRef | null {
    return this.itemRefs.get(partKey(flow, item)) ?? null
  }

  /** The order in which a flow's steps were made, by their keys. */
  async rankOfSteps(flow: string): Promise<(key: string) => number> {
    const { steps } = await this.flow(flow)
    const keys = [...steps.values()].map(({ key }) => key)
    return key => keys.indexOf(key)
  }

  event(id: string, event: EventOf): NewEvent {
    const { flowKey, stepKey, itemKey, at = this.now } = event
    return {
      id,
      kind: event.kind,
      userId: event.userId ?? null,
      anonymousId: event.anonymousId ?? null,
      flowRef: flowKey === undefined ? null : this.flowRef(flowKey),
      flowVersion: event.flowVersion ?? null,
      stepRef: stepKey === undefined ? null : this.stepRef(flowKey!, stepKey),
      itemRef: itemKey === undefined ? null : this.itemRef(flowKey!, itemKey),
      runId: event.runId ?? null,
      sessionId: event.sessionId ?? null,
      occurredAt: at,
      reportedAt: at,
      url: event.url ?? null,
      name: event.name ?? null,
      reason: event.reason ?? null,
      properties: event.properties ?? null,
      traits: event.traits ? JSON.stringify(event.traits) : null,
      answer: event.answer ?? null,
    }
  }

  /** Stores events as received now, unless `more` says when. */
  append(events: readonly NewEvent[], more: Partial<EventBatch> = {}) {
    const batch = { orgRef: this.ref, receivedAt: this.now, refusals: {}, skewMs: null }
    return this.store.stores.ledger.append({ ...batch, ...more, events })
  }

  complete(
    flow: string,
    person: PersonIds,
    { at = this.now, receivedAt = this.now, runId = null as string | null } = {},
  ) {
    const named = { orgRef: this.ref, flowRef: this.flowRef(flow), ...person }
    return this.store.stores.ledger.complete({ ...named, runId, completedAt: at, receivedAt })
  }

  /** Ticks items, or takes ticks back: `{ one: true, two: false }`. */
  tick(
    flow: string,
    person: PersonIds,
    items: Readonly<Record<string, boolean>>,
    more: { runId?: string; sessionId?: string; receivedAt?: number } = {},
  ) {
    return this.store.stores.ledger.tick({
      orgRef: this.ref,
      flowRef: this.flowRef(flow),
      ...person,
      receivedAt: this.now,
      ...more,
      items: Object.entries(items).map(([key, completed]) => ({
        itemRef: this.itemRef(flow, key)!,
        completed,
      })),
    })
  }

  /** Which items of a checklist are ticked, and since when, by the items' keys. */
  async progress(flow: string, person: PersonIds) {
    const { ticked, completedAt } = await this.store.stores.checklists.progress(
      this.ref,
      this.flowRef(flow),
      person,
    )
    const keys = [...this.itemRefs].filter(([key]) => key.startsWith(partKey(flow, '')))
    const byKey = keys.flatMap(([key, ref]) => {
      const at = ticked.get(ref)
      return at === undefined ? [] : [[key.slice(flow.length + 1), at] as const]
    })
    return { ticked: Object.fromEntries(byKey) as Record<string, number>, completedAt }
  }

  /** What a person has done, by the flows' keys. */
  async histories(person: PersonIds) {
    const refs = [...this.flowRefs.values()]
    const found = await this.store.stores.people.histories(this.ref, refs, person)
    const keys = [...this.flowRefs].filter(([, ref]) => found.has(ref))
    return Object.fromEntries(keys.map(([key, ref]) => [key, found.get(ref)!]))
  }

  /** All runs of a flow. */
  async runs(flow: string): Promise<RunRow[]> {
    const pages = this.store.stores.analytics.runs(this.ref, this.flowRef(flow), always)
    return (await Array.fromAsync(pages)).flat()
  }

  /** The ledger, or what follows a cursor; null for a cursor that it has not given. */
  async eventsAfter(after: string | null, most = Number.MAX_SAFE_INTEGER) {
    const pages = await this.store.management.eventLog.after(this.ref, after, most)
    return pages && (await Array.fromAsync(pages)).flat()
  }

  /** All that the ledger holds, in the order of arrival. */
  async events(): Promise<LoggedEvent[]> {
    return (await this.eventsAfter(null))!
  }

  /** The analytics of a flow, without what a test cannot know: ids, words, and when it was asked. */
  async analytics(
    flow: string,
    requested: { from: string; to: string; timezone?: string; version?: string },
    now = this.now,
  ) {
    const { generatedAt, ...answer } = await this.answer(flow, requested, now)
    return withoutIds(answer)
  }

  /** The same as callers get it. */
  async answer(flow: string, requested: AnalyticsQuery, now = this.now) {
    const query = parseQuery(await this.flow(flow), requested, now)
    return analyticsService(this.store).analytics(query, new AbortController().signal)
  }

  /** Makes a change at the current revision. */
  async change(change: Omit<OrganisationChange, 'revision' | 'audit'>): Promise<boolean> {
    const { organisations } = this.store.management
    const { revision } = await organisations.read(this.ref, this.now)
    const audit = [auditOf('settings.change', this.id, this.now)]
    return organisations.change(this.ref, { revision, audit, ...change })
  }

  /** @param person as `personOf` names them */
  named(person: string) {
    return { orgRef: this.ref, orgId: this.id, person }
  }

  /** @param steps after how many steps the caller goes away, if at all */
  async erase(person: string, steps = Number.POSITIVE_INFINITY) {
    const { subject, ...audit } = auditOf('person.erase', '', this.now)
    let taken = 0
    const tell = () => {
      if (++taken >= steps) throw new Error('Whoever asked has gone away')
    }
    return this.store.management.people.erase(this.named(person), { compact: false }, audit, tell)
  }

  allow(person: string): Promise<boolean> {
    const { subject, ...audit } = auditOf('person.allow', '', this.now)
    return this.store.management.people.allow(this.named(person), audit)
  }

  /** Everything that is stored of a person, by section. */
  async stored(person: string): Promise<Record<string, object[]>> {
    const sections = [...(await this.store.management.people.stored(this.named(person)))]
    return Object.fromEntries(
      sections.map(({ section, rows }) => [section, [...rows].filter(row => row !== null)]),
    )
  }
}

type Answer = Omit<Awaited<ReturnType<Tenant['answer']>>, 'generatedAt'>

const withoutIds = (answer: Answer) => ({
  ...answer,
  flowId: '',
  steps: answer.steps.map(step => ({ ...step, stepId: '' })),
  checklist: answer.checklist && {
    ...answer.checklist,
    items: answer.checklist.items.map(item => ({ ...item, itemId: '' })),
  },
})

/** Rebuilds all projections. Returns for how many flows they did not match the events. */
export async function rebuilt(store: Store): Promise<number> {
  const { before, after, ...audit } = auditOf('projections.rebuild')
  return (await store.management.operations.rebuild(audit, () => {})).changed
}

/** A stored event as the reference has it. */
export function referenceEvent(event: LoggedEvent): RefEvent {
  const { kind, userId, anonymousId, flowVersion, runId, sessionId, name, occurredAt } = event
  const { flowKey, stepKey, itemKey } = event
  const said = {
    userId,
    anonymousId,
    flowKey,
    flowVersion,
    stepKey,
    itemKey,
    runId,
    sessionId,
    name,
  }
  const given = Object.entries(said).filter(([, value]) => value !== null && value !== undefined)
  return { kind, at: occurredAt, ...Object.fromEntries(given) }
}
