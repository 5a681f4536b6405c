import { callerGone, invalid } from '../../core/errors.ts'
import { idsOf } from '../../core/event/event.ts'
import type { Catalogue, FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import { type FlowCondition, PeopleFilter } from '../../core/person/filter.ts'
import type { StepRef } from '../../core/reference.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import { shapeOf } from '../../http/input.ts'
import type {
  AllFlows,
  ListedPerson,
  MetFlow,
  PeopleConditions,
  PeopleList,
  PeopleOrder,
} from '../../storage/interfaces/people.ts'

export interface ListDeps {
  list: PeopleList
  flows: AllFlows
  catalogue(): Catalogue
}

export const everyone: PeopleConditions = { search: null, rules: [], flows: [] }

export const isEveryone = ({ search, rules, flows }: PeopleConditions): boolean =>
  search === null && rules.length + flows.length === 0

const filterShape = shapeOf(PeopleFilter)

/** A filter in a query. @throws AppError `validation_failed` */
export function filterIn(json: string): PeopleFilter {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw invalid({ path: '/filter', message: 'Must be JSON' })
  }
  if (filterShape.fits(value)) return value
  const problems = filterShape.problemsIn(value)
  throw invalid(...problems.map(({ path, message }) => ({ path: `/filter${path}`, message })))
}

/** Looks up the flows and steps that filters name. @throws AppError `validation_failed` */
export async function conditionsOf(
  organisation: Organisation,
  search: string | null,
  filters: readonly PeopleFilter[],
  { flows: store, catalogue }: Pick<ListDeps, 'flows' | 'catalogue'>,
): Promise<PeopleConditions> {
  const named = filters.flatMap(({ flows = [] }) => flows)
  const { flows } = named.length === 0 ? { flows: [] } : await store.read(organisation.ref)
  const idOf = new Map(flows.map(({ key, id }) => [key, id]))
  const found = named.map((condition, i) => {
    const entry = catalogue().flow(idOf.get(condition.flow) ?? '')
    const path = `/filter/flows/${i}`
    if (entry) return { entry, condition, path }
    throw invalid({ path: `${path}/flow`, message: `No flow has the key ${condition.flow}` })
  })
  return {
    search: search === null ? null : search.toLowerCase(),
    rules: filters.filter(({ rules = [] }) => rules.length > 0),
    flows: found.map(({ entry, condition, path }) => {
      const { outcome, leftAt, answer } = condition
      const left = leftAt === undefined ? null : stepOf(entry, leftAt, `${path}/leftAt`)
      return {
        ...{ flowRef: entry.ref, outcome },
        left: left && { stepRef: left, further: furtherThan(entry, left) },
        answer: answer ? answerOf(entry, answer, path) : null,
      }
    }),
  }
}

function stepOf({ steps }: FlowEntry, key: string, path: string): StepRef {
  const found = [...steps].find(([, step]) => step.key === key)
  if (found) return found[0]
  throw invalid({ path, message: `The flow never had a step ${key}` })
}

function answerOf(
  entry: FlowEntry,
  { step, ...answer }: NonNullable<FlowCondition['answer']>,
  path: string,
) {
  return { ...answer, stepRef: stepOf(entry, step, `${path}/answer/step`) }
}

/** The steps that are further than one: in each version, and (null) in any other. */
function furtherThan(entry: FlowEntry, step: StepRef): Map<number | null, StepRef[]> {
  const positions = new FlowPositions(entry)
  const isFurther = (other: StepRef, version: number) => {
    const viewed = [...entry.steps.keys()].filter(ref => ref === step || ref === other)
    return positions.furthest(viewed.map(viewedOnce), version) === other
  }
  const others = [...entry.steps.keys()].filter(ref => ref !== step)
  const versions = [...entry.versions.map(({ version }) => version), null]
  return new Map(
    versions.map(version => [version, others.filter(ref => isFurther(ref, version ?? 0))]),
  )
}

const viewedOnce = (stepId: StepRef) => ({
  ...{ stepId, viewedAt: 0, completedAt: null, skippedAt: null, missingAt: null },
})

/** People who meet conditions, in an order, some at a time. @throws AppError if the caller is gone */
export async function* matching(
  { ref }: Organisation,
  conditions: PeopleConditions,
  order: PeopleOrder,
  { list }: Pick<ListDeps, 'list'>,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedPerson[]> {
  for await (const people of list.people(ref, order, null, conditions)) {
    if (signal.aborted) throw callerGone(signal.reason)
    if (people.length > 0) yield people
  }
}

/** How many flows a person has seen, by their best outcome. */
const flowCounts = (met: readonly MetFlow[]) => ({
  seen: met.length,
  completed: met.filter(({ isCompleted }) => isCompleted).length,
  dismissed: met.filter(flow => !flow.isCompleted && flow.isDismissed).length,
  inProgress: met.filter(flow => !flow.isCompleted && !flow.isDismissed).length,
})

/** Only the traits that the organisation lists now. */
export const listedTraits = ({ traits: names }: Organisation, { traits }: ListedPerson) =>
  Object.fromEntries(
    names.flatMap(name => {
      const reported = traits.get(name)
      return reported ? [[name, reported.value] as const] : []
    }),
  )

/** People as lists return them. */
export async function described(
  organisation: Organisation,
  people: readonly ListedPerson[],
  { list }: Pick<ListDeps, 'list'>,
) {
  const names = people.map(({ person }) => person)
  const met = await list.metFlows(organisation.ref, names)
  return people.map(person => ({
    ...idsOf(person.person),
    firstSeenAt: person.firstAt,
    lastSeenAt: person.lastAt,
    traits: listedTraits(organisation, person),
    flows: flowCounts(met.get(person.person) ?? []),
  }))
}
