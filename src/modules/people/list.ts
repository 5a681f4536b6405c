import { callerGone, invalid } from '../../core/errors.ts'
import { idsOf } from '../../core/event/event.ts'
import type { Catalogue, FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import {
  answerMeets,
  type FlowCondition,
  PeopleFilter,
  rulesHold,
} from '../../core/person/filter.ts'
import { outcomeOf } from '../../core/run/outcome.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import { shapeOf } from '../../http/input.ts'
import type {
  AllFlows,
  ListedPerson,
  MetFlow,
  PeopleList,
} from '../../storage/interfaces/people.ts'
import type { RunRow } from '../../storage/interfaces/runs.ts'

export interface ListDeps {
  list: PeopleList
  flows: AllFlows
  catalogue(): Catalogue
}

/** Conditions of a list, with what they name looked up. */
export interface Conditions {
  search: string | null
  filters: readonly PeopleFilter[]
  flows: readonly { entry: FlowEntry; meets(runs: readonly RunRow[]): boolean }[]
}

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
): Promise<Conditions> {
  const named = filters.flatMap(({ flows = [] }) => flows)
  const { flows } = named.length === 0 ? { flows: [] } : await store.read(organisation.ref)
  const idOf = new Map(flows.map(({ key, id }) => [key, id]))
  return {
    search: search === null ? null : search.toLowerCase(),
    filters,
    flows: named.map((condition, i) => {
      const entry = catalogue().flow(idOf.get(condition.flow) ?? '')
      const path = `/filter/flows/${i}`
      if (!entry) {
        throw invalid({ path: `${path}/flow`, message: `No flow has the key ${condition.flow}` })
      }
      return { entry, meets: meeting(entry, condition, path) }
    }),
  }
}

function meeting(entry: FlowEntry, condition: FlowCondition, path: string) {
  const { outcome, leftAt, answer } = condition
  const stepOf = (key: string, place: string) => {
    const found = [...entry.steps].find(([, step]) => step.key === key)
    if (found) return found[0]
    throw invalid({ path: `${path}/${place}`, message: `The flow never had a step ${key}` })
  }
  const leftStep = leftAt === undefined ? null : stepOf(leftAt, 'leftAt')
  const asking = answer === undefined ? null : stepOf(answer.step, 'answer/step')
  const positions = new FlowPositions(entry)
  const isLeft = ({ completedAt, steps, version }: RunRow) =>
    completedAt === null && positions.furthest(steps, version) === leftStep
  const isAnswered = ({ answers }: RunRow) =>
    answers.some(given => given.stepId === asking && answerMeets(answer!, given.answer))
  return (runs: readonly RunRow[]) => {
    if (outcome === 'not_met') return runs.length === 0
    return (
      runs.length > 0 &&
      (outcome === undefined || bestOutcome(runs.map(outcomeOf)) === outcome) &&
      (leftStep === null || runs.some(isLeft)) &&
      (asking === null || runs.some(isAnswered))
    )
  }
}

type Outcome = ReturnType<typeof outcomeOf>

function bestOutcome(outcomes: readonly Outcome[]): Outcome {
  if (outcomes.includes('completed')) return 'completed'
  return outcomes.includes('dismissed') ? 'dismissed' : 'in_progress'
}

/** People who meet conditions, in an order, some at a time. @throws AppError if the caller is gone */
export async function* matching(
  organisation: Organisation,
  { search, filters, flows }: Conditions,
  [order, after]: [Parameters<PeopleList['people']>[1], Parameters<PeopleList['people']>[2]],
  { list }: Pick<ListDeps, 'list'>,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedPerson[]> {
  for await (const page of list.people(organisation.ref, order, after)) {
    if (signal.aborted) throw callerGone(signal.reason)
    let people = page.filter(
      ({ person }) => search === null || person.slice(1).toLowerCase().includes(search),
    )
    people = people.filter(({ traits }) => filters.every(filter => rulesHold(filter, traits)))
    for (const { entry, meets } of flows) {
      if (people.length === 0) break
      const names = people.map(({ person }) => person)
      const runs = await list.runsIn(organisation.ref, entry.ref, names)
      people = people.filter(({ person }) => meets(runs.get(person) ?? []))
    }
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
