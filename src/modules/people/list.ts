import { callerGone, invalid } from '../../core/errors.ts'
import { idsOf } from '../../core/event/event.ts'
import type { Catalogue, FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import { answerMeets, type FlowCondition, PeopleFilter } from '../../core/person/filter.ts'
import type { FlowRef } from '../../core/reference.ts'
import { FlowPositions } from '../../core/run/positions.ts'
import { shapeOf } from '../../http/input.ts'
import type {
  AllFlows,
  ListedPerson,
  MetFlow,
  PeopleConditions,
  PeopleList,
} from '../../storage/interfaces/people.ts'
import type { RunRow } from '../../storage/interfaces/runs.ts'

export interface ListDeps {
  list: PeopleList
  flows: AllFlows
  catalogue(): Catalogue
}

/** Conditions of a list, with what they name looked up. */
export interface Conditions extends PeopleConditions {
  /** What storage leaves to be decided by the runs of a flow. */
  runs: readonly { flowRef: FlowRef; meet(runs: readonly RunRow[]): boolean }[]
}

export const isEveryone = ({ search, rules, flows }: Conditions): boolean =>
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
): Promise<Conditions> {
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
    flows: found.map(({ entry: { ref: flowRef }, condition: { outcome, leftAt, answer } }) => {
      const isMet = outcome !== 'not_met'
      const isLeft = isMet && leftAt !== undefined
      return { flowRef, outcome, isLeft, isAnswered: isMet && answer !== undefined }
    }),
    runs: found.flatMap(({ entry, condition, path }) => meeting(entry, condition, path)),
  }
}

function meeting(entry: FlowEntry, { outcome, leftAt, answer }: FlowCondition, path: string) {
  const stepOf = (key: string, place: string) => {
    const found = [...entry.steps].find(([, step]) => step.key === key)
    if (found) return found[0]
    throw invalid({ path: `${path}/${place}`, message: `The flow never had a step ${key}` })
  }
  const leftStep = leftAt === undefined ? null : stepOf(leftAt, 'leftAt')
  const asking = answer === undefined ? null : stepOf(answer.step, 'answer/step')
  if (outcome === 'not_met' || (leftStep === null && asking === null)) return []
  const positions = new FlowPositions(entry)
  const isLeft = ({ completedAt, steps, version }: RunRow) =>
    completedAt === null && positions.furthest(steps, version) === leftStep
  const isAnswered = ({ answers }: RunRow) =>
    answers.some(given => given.stepId === asking && answerMeets(answer!, given.answer))
  const meet = (runs: readonly RunRow[]) =>
    (leftStep === null || runs.some(isLeft)) && (asking === null || runs.some(isAnswered))
  return [{ flowRef: entry.ref, meet }]
}

/** People who meet conditions, in an order, some at a time. @throws AppError if the caller is gone */
export async function* matching(
  organisation: Organisation,
  conditions: Conditions,
  [order, after]: [Parameters<PeopleList['people']>[1], Parameters<PeopleList['people']>[2]],
  { list }: Pick<ListDeps, 'list'>,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedPerson[]> {
  const pages = list.people(organisation.ref, order, after, conditions)
  for await (let people of pages) {
    if (signal.aborted) throw callerGone(signal.reason)
    for (const { flowRef, meet } of conditions.runs) {
      if (people.length === 0) break
      const names = people.map(({ person }) => person)
      const runs = await list.runsIn(organisation.ref, flowRef, names)
      people = people.filter(({ person }) => meet(runs.get(person) ?? []))
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
