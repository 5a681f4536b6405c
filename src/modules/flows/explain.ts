import { flowNotFound } from '../../core/errors.ts'
import { msOf } from '../../core/event/caused.ts'
import { type PersonIds, personOf } from '../../core/event/event.ts'
import type { Traits } from '../../core/event/traits.ts'
import { type Candidate, firstDue, noHistory, waitsForIdentify } from '../../core/flow/decision.ts'
import { type DecidedRule, decide, type Visit } from '../../core/flow/explanation.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { interruptions, judgeOf, type Moment, newcomer } from '../../core/flow/moment.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { readOrigin } from '../../core/organisation/origin.ts'
import { rulesVerdict, traitFor } from '../../core/person/filter.ts'
import type { ReportedTrait } from '../../core/person/seen.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { shown } from '../../core/text/wording.ts'
import { patientSlices } from '../../scheduling/cooperative.ts'
import type { AuthoredFlow } from '../../storage/interfaces/authoring.ts'
import type { ExplainStore, PublishedFlowStores } from '../../storage/interfaces/flows.ts'
import type { ListedPerson, PeopleList } from '../../storage/interfaces/people.ts'
import { newestDefinition } from '../authoring/rules.ts'
import type { ExplainedFlow } from './schema.ts'

export interface ExplainQuery {
  /** Key or id of a flow. */
  flow: string
  url: URL
  /** Null for those that the person last reported; none of a new visitor. */
  traits: Traits | null
  /** Null for a new visitor. */
  person: PersonIds | null
}

/** A condition of the flow or of its organisation. */
type Rule = Omit<DecidedRule, 'rule'> & { rule: ExplainedFlow['rules'][number]['rule'] }

interface ExplainDeps {
  stores: PublishedFlowStores
  store: ExplainStore
  people: Pick<PeopleList, 'person'>
  now: number
}

interface AuthoredCandidate extends Candidate {
  authored: AuthoredFlow
}

/**
 * Whether a person sees a flow on a page, and why. Uses the newest version of a published flow, and for any
 * other flow what would be published next.
 *
 * @throws AppError `flow_not_found`
 */
export async function explain(
  organisation: Organisation,
  { flow: name, url, traits, person }: ExplainQuery,
  { stores, store, people, now }: ExplainDeps,
): Promise<ExplainedFlow> {
  const all = await candidates(organisation.ref, person, stores, store)
  const candidate = all.find(({ authored: { id, key } }) => key === name || id === name)
  if (!candidate) throw flowNotFound(name)
  const reported =
    traits === null && person
      ? ((await people.person(organisation.ref, personOf(person.userId, person.anonymousId)))
          ?.traits ?? new Map<string, ReportedTrait>())
      : null
  const known = traits ?? (reported ? comparable(reported, all) : {})
  const visit = {
    url,
    traits: known,
    ...(await momentOf(organisation, all, person, { stores, now })),
  }
  const slices = patientSlices()
  const rivals: AuthoredCandidate[] = []
  for (const other of all) {
    await slices.rest()
    if (other !== candidate && firstDue([other], visit, judgeOf(visit))) rivals.push(other)
  }
  await slices.rest()
  const decision = decide(candidate, visit, rivals)
  const hasKey = await store.hasSnippetKey(organisation.ref)
  const gate = [keyRule(hasKey), originRule(url, organisation)]
  const isOpen = gate.every(({ holds }) => holds)
  const { audience } = candidate.flow.targeting
  const unreported = reported ? unreportedIn(audience, reported) : []
  const rules = decision.rules.map(rule =>
    rule.rule === 'audience' && unreported.length > 0 ? unknownAudience(rule, unreported) : rule,
  )
  const isShown = isOpen && decision.shown && unreported.length === 0
  await slices.rest()
  const identify = identifyRule(candidate, visit, person?.userId != null)
  const { id, key, status, newest, draft } = candidate.authored
  return {
    shown: isShown,
    flow: { id, key, status, version: newest?.version ?? null, hasDraft: draft !== null },
    person: {
      userId: person?.userId ?? null,
      anonymousId: person?.anonymousId ?? null,
      history: candidate.history,
    },
    url: url.href,
    traits: known,
    unreported,
    rules: [...gate, ...rules, identify].map(rule => ({
      ...rule,
      parts: [...rule.parts],
    })),
    instead: isShown || !isOpen || decision.shown ? null : decision.winner,
  }
}

/** Reported traits as a page would send them to be compared by any of the flows. */
const comparable = (
  reported: ListedPerson['traits'],
  flows: readonly AuthoredCandidate[],
): Record<string, unknown> =>
  Object.fromEntries(
    flows
      .flatMap(({ flow }) => flow.targeting.audience.rules)
      .filter(({ attribute }) => reported.has(attribute))
      .map(rule => [rule.attribute, traitFor(rule, reported)]),
  )

/** The traits that decide whether a person is in an audience, and that they never reported. */
function unreportedIn(
  audience: FlowDefinition['targeting']['audience'],
  reported: ListedPerson['traits'],
): string[] {
  if (rulesVerdict(audience, reported) !== null) return []
  const names = audience.rules.map(({ attribute }) => attribute)
  return [...new Set(names)].filter(name => !reported.has(name))
}

const unknownAudience = (rule: DecidedRule, unreported: readonly string[]): DecidedRule => ({
  ...rule,
  holds: null,
  why: `this person has not reported ${unreported.map(name => shown(name)).join(', ')}`,
  parts: [],
})

/** What is known about a person at this moment without a page. */
async function momentOf(
  { ref, throttle }: Organisation,
  candidates: readonly Candidate[],
  person: PersonIds | null,
  { stores, now }: { stores: PublishedFlowStores; now: number },
): Promise<Moment> {
  const published = candidates.filter(({ status }) => status === 'published')
  const caused = person && (await stores.people.caused(ref, person))
  return {
    ...newcomer(now),
    person: person && personOf(person.userId, person.anonymousId),
    completed: new Set(
      published.flatMap(({ flow, history }) => (history.completedAt === null ? [] : flow.key)),
    ),
    events: Object.fromEntries([...(caused ?? [])].map(([name, times]) => [name, times.map(msOf)])),
    throttle: throttle === null ? null : { most: throttle, begun: interruptions(published) },
  }
}

/** All flows, by key, with what the person has done with each. */
async function candidates(
  orgRef: OrganisationRef,
  person: PersonIds | null,
  stores: PublishedFlowStores,
  store: ExplainStore,
): Promise<AuthoredCandidate[]> {
  const { flows } = await store.read(orgRef)
  const catalogue = stores.catalogue()
  const entries = flows.map(({ id }) => catalogue.flow(id))
  const refs = entries.map(entry => entry?.ref)
  const published = refs.filter(ref => ref !== undefined)
  const histories = person && (await stores.people.histories(orgRef, published, person))
  return flows.map((authored, i) => {
    const ref = refs[i]
    const { status, newest } = authored
    const isPublished = status === 'published' && newest !== null
    return {
      authored,
      flow: isPublished ? newest.definition : newestDefinition(authored),
      status,
      history: (ref === undefined ? null : histories?.get(ref)) ?? noHistory,
    }
  })
}

function keyRule(holds: boolean): Rule {
  const why = holds
    ? 'the organisation has a snippet key'
    : 'the organisation has no snippet key: create one'
  return { rule: 'key', holds, why, parts: [] }
}

/** Like the API's own check: if the organisation lists origins, only those are allowed. */
function originRule(url: URL, { origins }: Organisation): Rule {
  if (origins === null) {
    return { rule: 'origin', holds: true, why: 'the snippet may run on any origin', parts: [] }
  }
  const origin = originOf(url)
  const holds = origins.has(origin)
  const many = `${origins.size} ${origins.size === 1 ? 'origin' : 'origins'}`
  const why = holds
    ? `${origin} is on the list of origins`
    : `${shown(origin)} is not on the list of ${many}`
  return { rule: 'origin', holds, why, parts: [] }
}

/** Not `URL.origin`, because it knows nothing of the origins of browser extensions. */
function originOf({ protocol, host }: URL): string {
  const read = readOrigin(`${protocol}//${host}`)
  return 'origin' in read ? read.origin : 'null'
}

/**
 * What a page shows before it has identified the person. If it waits for that, it shows no flow that
 * depends on who the person is; otherwise it shows what somebody new sees. This is not a condition that
 * holds or not, because only the browser knows what kind of page it is.
 */
function identifyRule(candidate: Candidate, visit: Visit, isNamed: boolean): Rule {
  const rule = { rule: 'identify', parts: [] } as const
  if (!waitsForIdentify(candidate.flow)) {
    return {
      ...rule,
      holds: true,
      why: 'the flow is for everybody, so pages show it before they know the person',
    }
  }
  const waits = 'pages that wait for the person show it'
  if (!isNamed) {
    const why = `${waits} after the time-out, because nobody is identified`
    return { ...rule, holds: null, why }
  }
  const isTheirs = decide(candidate, visit, []).shown
  const stranger = { ...candidate, history: noHistory }
  const { url, now, onPage, throttle } = visit
  const nobody = { ...newcomer(now), url, traits: {}, onPage, throttle }
  const isForStrangers = decide(stranger, nobody, []).shown
  const meanwhile = isForStrangers
    ? `other pages show it before, as to a new visitor${isTheirs ? '' : ', and hide it then'}`
    : 'so do other pages, because a new visitor does not see it'
  return { ...rule, holds: null, why: `${waits} once they are identified; ${meanwhile}` }
}
