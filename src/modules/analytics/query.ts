import { invalid, maxProblems, type Problem } from '../../core/errors.ts'
import { startReasonTrait } from '../../core/event/start-reason.ts'
import type { FlowEntry, Organisation } from '../../core/organisation/catalogue.ts'
import type { PeopleFilter } from '../../core/person/filter.ts'
import type { StepRef } from '../../core/reference.ts'
import { below, nearest, quoted, shown } from '../../core/text/wording.ts'
import { resolveRange, type TimeRange } from '../../core/time/time-range.ts'
import { parametersOf } from '../../http/input.ts'
import type { Segment, SegmentStore } from '../../storage/interfaces/segments.ts'
import { definitions, requestedDefinitions } from './definitions.ts'
import type { Interval } from './periods.ts'
import type { AnalyticsQuery } from './schema.ts'

/** Keeps only runs whose person had this value at the start; null: whose value is unknown. */
export interface TraitFilter {
  trait: string
  value: string | null
}

/** Keeps only runs whose person met the rules of a saved segment at the start. */
export interface SavedFilter {
  saved: { id: string; name: string; filter: PeopleFilter }
}

export type SegmentFilter = TraitFilter | SavedFilter

/** A validated query. */
export interface Query {
  flow: FlowEntry
  range: TimeRange
  /** Null for all versions. */
  version: number | null
  filters: readonly SegmentFilter[]
  /** The trait by which runs are grouped. */
  groupBy: string | null
  interval: Interval | null
  hasDistribution: boolean
  hasPaths: boolean
  hasAnswers: boolean
  /** The step whose leavers are compared with the others. */
  leftAt: StepRef | null
}

/** @throws AppError `validation_failed` */
export function parseRange(
  query: Pick<AnalyticsQuery, 'from' | 'to' | 'timezone'>,
  now: number,
): TimeRange {
  const resolved = resolveRange(query, now)
  if ('problems' in resolved) throw invalid(...resolved.problems)
  return resolved.range
}

/** @throws AppError `validation_failed` */
export function parseQuery(
  flow: FlowEntry,
  query: AnalyticsQuery,
  now: number,
  saved: readonly Segment[] = [],
): Query {
  const range = parseRange(query, now)
  const version = query.version === undefined ? null : Number(query.version)
  if (version !== null && !flow.versions.some(known => known.version === version)) {
    throw invalid({ path: '/version', message: 'This version was never published' })
  }
  return {
    flow,
    range,
    version,
    ...parseSegments(flow, query.segment ?? [], saved),
    interval: query.interval ?? null,
    hasDistribution: query.distribution === '1',
    hasPaths: query.ways === '1',
    hasAnswers: query.answers === '1',
    leftAt: query.left === undefined ? null : stepOf(flow, query.left, '/left'),
  }
}

/** The step with this key. @throws AppError `validation_failed` */
export function stepOf({ steps }: FlowEntry, key: string, path: string): StepRef {
  for (const [ref, step] of steps) if (step.key === key) return ref
  throw invalid({ path, message: 'Must be the key of a step that was published' })
}

const isId = (segment: string) => /^segment_[^:]*$/.test(segment)

/** The saved segments that a query names by ID; none if it names none. */
export async function savedIn(
  store: Pick<SegmentStore, 'list'>,
  { ref, traits }: Organisation,
  segments: readonly string[] = [],
): Promise<readonly Segment[]> {
  return segments.some(segment => isId(segment) && !traits.includes(segment)) ? store.list(ref) : []
}

/**
 * `plan:pro` filters runs, `plan` groups them, and the ID of a saved segment filters by its rules. A trait's name
 * never contains a colon. What started a run counts as a trait.
 *
 * @param saved as `savedIn` returns them
 */
export function parseSegments(
  { organisation: { traits } }: FlowEntry,
  segments: readonly string[],
  saved: readonly Segment[],
): Pick<Query, 'filters' | 'groupBy'> {
  const filters: SegmentFilter[] = []
  const by: string[] = []
  for (const segment of segments) {
    const [trait = ''] = segment.split(':', 1)
    const found = saved.find(({ id }) => id === segment)
    if (found) {
      filters.push({ saved: comparable(found) })
      continue
    }
    const isKnown = traits.includes(trait) || trait === startReasonTrait
    if (!isKnown && isId(segment)) {
      throw invalid({ path: '/segment', message: 'No segment has this ID' })
    }
    if (!isKnown) {
      const known = traits.length > 0 ? `lists ${traits.join(', ')}` : 'lists none'
      const message = `Must be a trait that the organisation lists; it ${known}`
      throw invalid({ path: '/segment', message })
    }
    if (segment === trait) by.push(trait)
    else filters.push({ trait, value: segment.slice(trait.length + 1) || null })
  }
  if (by.length > 1) {
    throw invalid({ path: '/segment', message: 'Only one trait can be without a value' })
  }
  return { filters, groupBy: by[0] ?? null }
}

/** Runs have the traits of their start, and nothing of other flows. @throws AppError `validation_failed` */
function comparable({ id, name, filter }: Segment) {
  if (!filter.flows?.length) return { id, name, filter }
  const message = `The segment ${name} has conditions on flows. Results can be limited by traits only`
  throw invalid({ path: '/segment', message })
}

/** The definitions for a query. */
export const definitionsOf = (
  query: Pick<
    Query,
    'hasDistribution' | 'interval' | 'filters' | 'groupBy' | 'hasPaths' | 'hasAnswers' | 'leftAt'
  > & {
    hasExperiment?: boolean
  },
): Record<string, string> => ({
  ...definitions,
  ...(query.hasDistribution && requestedDefinitions.distribution),
  ...(query.hasExperiment && requestedDefinitions.experiment),
  ...(query.interval !== null && requestedDefinitions.interval),
  ...((query.groupBy !== null || query.filters.length > 0) && requestedDefinitions.segments),
  ...(query.hasPaths && requestedDefinitions.ways),
  ...(query.hasAnswers && requestedDefinitions.answers),
  ...(query.leftAt !== null && requestedDefinitions.leavers),
})

/**
 * The names of unknown parameters, each once, at most twenty.
 *
 * @throws AppError `validation_failed` if one looks like a misspelling, because the numbers would not be the
 *   requested ones
 */
export function unknownParameters(request: Request, names: readonly string[]): string[] {
  const others = new Set(parametersOf(request).map(([name]) => name))
  for (const name of names) others.delete(name)
  const first = [...others].slice(0, maxProblems)
  const misspelt = first.flatMap((name): Problem[] => {
    const meant = nameMeant(name, names)
    if (meant === null) return []
    const message = `Unknown parameter: did you mean ${quoted(meant)}?`
    return [{ path: below('', name), message }]
  })
  if (misspelt.length > 0) throw invalid(...misspelt)
  return first.map(name => shown(name))
}

/** A name that this one abbreviates (`tz`) or nearly spells. */
function nameMeant(name: string, names: readonly string[]): string | null {
  if (name.length < 2) return null
  const abbreviated = names.filter(known => abbreviates(name.toLowerCase(), known))
  if (abbreviated.length === 1) return abbreviated[0]!
  // Two letters are always close to any other two.
  return name.length === 2 ? null : nearest(name, [...names])
}

/** Whether the short word has the letters of the long one, in order, and the same first letter. */
function abbreviates(short: string, long: string): boolean {
  let at = short[0] === long[0] ? 0 : -1
  for (const letter of short.slice(1)) {
    if (at === -1) break
    at = long.indexOf(letter, at + 1)
  }
  return at !== -1
}
