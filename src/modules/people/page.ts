import { invalid } from '../../core/errors.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { ListedPerson, PeopleOrder } from '../../storage/interfaces/people.ts'
import { type Conditions, described, type ListDeps, matching } from './list.ts'

/** What a list is sorted by. `flows` and traits are in no index, so everybody is looked at. */
export interface Sort {
  by: PeopleOrder['by'] | 'flows' | { trait: string }
  isDescending: boolean
}

/** @throws AppError `validation_failed` for a trait that is not listed */
export function sortIn(
  { traits }: Organisation,
  { sort = 'lastSeen', order }: { sort?: string; order?: 'asc' | 'desc' },
): Sort {
  const isDescending = order === undefined ? sort !== 'id' : order === 'desc'
  if (!sort.startsWith('trait:')) return { by: sort as Exclude<Sort['by'], object>, isDescending }
  const trait = sort.slice('trait:'.length)
  if (traits.includes(trait)) return { by: { trait }, isDescending: order === 'desc' }
  throw invalid({ path: '/sort', message: 'Must be a trait that the organisation lists' })
}

const isIndexed = (by: Sort['by']): by is PeopleOrder['by'] =>
  by === 'lastSeen' || by === 'firstSeen' || by === 'id'

/** A person's place in any order. Who has no such trait comes last. */
interface Place {
  person: string
  value: number | string | null
}

function placeIn(cursor: string): Place {
  try {
    const [value, person] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const isValue = value === null || ['number', 'string'].includes(typeof value)
    if (isValue && typeof person === 'string') return { value: value as Place['value'], person }
  } catch {}
  throw invalid({ path: '/after', message: 'Must be a cursor of this list' })
}

const cursorOf = ({ value, person }: Place) =>
  Buffer.from(JSON.stringify([value, person])).toString('base64url')

function compared(a: Place, b: Place, isDescending: boolean): number {
  if (a.value === null || b.value === null) {
    if (a.value !== b.value) return a.value === null ? 1 : -1
    return a.person < b.person ? -1 : 1
  }
  const first = isDescending ? b : a
  const second = isDescending ? a : b
  if (first.value === second.value) return first.person < second.person ? -1 : 1
  return first.value! < second.value! ? -1 : 1
}

type Deps = Pick<ListDeps, 'list'>

/** A page of people. @throws AppError `validation_failed` */
export async function pageOf(
  organisation: Organisation,
  conditions: Conditions,
  { sort, after, limit }: { sort: Sort; after: string | null; limit: number },
  deps: Deps,
  signal: AbortSignal,
) {
  const place = after === null ? null : placeIn(after)
  const found = isIndexed(sort.by)
    ? await firstOf(
        organisation,
        conditions,
        { ...sort, by: sort.by },
        place,
        limit + 1,
        deps,
        signal,
      )
    : await leastOf(organisation, conditions, sort, place, limit + 1, deps, signal)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const people = shown.map(({ listed }) => listed)
  return {
    traits: [...organisation.traits],
    people: await described(organisation, people, deps),
    next: found.length > limit && last ? cursorOf(last) : null,
  }
}

interface Found extends Place {
  listed: ListedPerson
}

/** The first people after a place in an order that has an index. */
async function firstOf(
  organisation: Organisation,
  conditions: Conditions,
  order: PeopleOrder,
  after: Place | null,
  max: number,
  deps: Deps,
  signal: AbortSignal,
): Promise<Found[]> {
  const found: Found[] = []
  const at = Number(after?.value ?? 0)
  const place = after && { person: after.person, firstAt: at, lastAt: at }
  for await (const people of matching(organisation, conditions, [order, place], deps, signal)) {
    for (const listed of people) {
      const value = order.by === 'firstSeen' ? listed.firstAt : listed.lastAt
      found.push({ person: listed.person, value, listed })
    }
    if (found.length >= max) break
  }
  return found.slice(0, max)
}

/** The first people after a place in an order that has none: those of everybody. */
async function leastOf(
  organisation: Organisation,
  conditions: Conditions,
  { by, isDescending }: Sort,
  after: Place | null,
  max: number,
  deps: Deps,
  signal: AbortSignal,
): Promise<Found[]> {
  let found: Found[] = []
  const inOrder = (a: Place, b: Place) => compared(a, b, isDescending)
  const byId: PeopleOrder = { by: 'id', isDescending: false }
  for await (const people of matching(organisation, conditions, [byId, null], deps, signal)) {
    const names = people.map(({ person }) => person)
    const met = by === 'flows' ? await deps.list.metFlows(organisation.ref, names) : null
    for (const listed of people) {
      const { person, traits } = listed
      const value =
        typeof by === 'object'
          ? (traits.get(by.trait)?.value ?? null)
          : (met?.get(person)?.length ?? 0)
      const one = { person, value, listed }
      if (after === null || inOrder(after, one) < 0) found.push(one)
    }
    if (found.length > 10 * max) found = found.sort(inOrder).slice(0, max)
  }
  return found.sort(inOrder).slice(0, max)
}
