import { invalid } from '../../core/errors.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { PeopleConditions, PeopleSort, SortedPlace } from '../../storage/interfaces/people.ts'
import { described, type ListDeps } from './list.ts'

/** @throws AppError `validation_failed` for a trait that is not listed */
export function sortIn(
  { traits }: Organisation,
  { sort = 'lastSeen', order }: { sort?: string; order?: 'asc' | 'desc' },
): PeopleSort {
  const isDescending = order === undefined ? sort !== 'id' : order === 'desc'
  if (!sort.startsWith('trait:'))
    return { by: sort as Exclude<PeopleSort['by'], object>, isDescending }
  const trait = sort.slice('trait:'.length)
  if (traits.includes(trait)) return { by: { trait }, isDescending: order === 'desc' }
  throw invalid({ path: '/sort', message: 'Must be a trait that the organisation lists' })
}

function placeIn(cursor: string): SortedPlace {
  try {
    const [value, person] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const isValue = value === null || ['number', 'string'].includes(typeof value)
    if (isValue && typeof person === 'string')
      return { value: value as SortedPlace['value'], person }
  } catch {}
  throw invalid({ path: '/after', message: 'Must be a cursor of this list' })
}

const cursorOf = ({ value, person }: SortedPlace) =>
  Buffer.from(JSON.stringify([value, person])).toString('base64url')

/** A page of people. @throws AppError `validation_failed` */
export async function pageOf(
  organisation: Organisation,
  conditions: PeopleConditions,
  { sort, after, limit }: { sort: PeopleSort; after: string | null; limit: number },
  { list }: Pick<ListDeps, 'list'>,
  signal: AbortSignal,
) {
  const place = after === null ? null : placeIn(after)
  const page = { ...sort, after: place, max: limit + 1 }
  const found = await list.first(organisation.ref, page, conditions, signal)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const people = shown.map(({ listed }) => listed)
  return {
    traits: [...organisation.traits],
    people: await described(organisation, people, { list }),
    next: found.length > limit && last ? cursorOf(last) : null,
  }
}
