import type { StaticEncode } from '@sinclair/typebox'
import type { People } from '../../../modules/people/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { none } from '../parts/format.ts'
import type { Column } from '../parts/table.tsx'
import { addressOf, useFilters } from '../shell/address.ts'

export type ListedPeople = StaticEncode<typeof People>
type Row = ListedPeople['people'][number]

const defaultSort = 'lastSeen'

/** A column's name that sorts the whole list by it; a second press turns it around. */
function SortLink({ name, sort }: { name: string; sort: string }) {
  const { filters, withFilters } = useFilters()
  const isNow = (filters.sort ?? defaultSort) === sort
  const isText = sort === 'id' || sort.startsWith('trait:')
  const isDown = filters.order === undefined ? !isText : filters.order === 'desc'
  const order = isNow === isDown ? 'asc' : 'desc'
  return (
    <a
      class="sort"
      href={withFilters({ sort, order: isNow ? order : isText ? 'asc' : 'desc', after: null })}
      aria-label={`Sort by ${name}`}
    >
      {name}
      {isNow && <span aria-hidden="true"> {isDown ? '↓' : '↑'}</span>}
    </a>
  )
}

const flowsOf = ({ flows: { seen, completed, dismissed, inProgress } }: Row) => {
  const parts = [
    completed && `${completed} completed`,
    dismissed && `${dismissed} dismissed`,
    inProgress && `${inProgress} unfinished`,
  ].filter(Boolean)
  return seen === 0 ? none : parts.join(', ')
}

/** The columns of the list: one for each listed trait, between who it is and when they were seen. */
export const columnsOf = (traits: readonly string[]): Column<Row>[] => {
  const sorted = (name: string, sort: string, rest: Partial<Column<Row>>): Column<Row> => ({
    ...{ name, head: <SortLink name={name} sort={sort} /> },
    ...rest,
  })
  return [
    sorted('Person', 'id', {
      isTitle: true,
      cell: ({ userId, anonymousId }) => (
        <a
          class="row-link"
          href={addressOf(
            ['people'],
            userId !== null ? { user: userId } : { anonymous: anonymousId },
          )}
        >
          {userId ?? anonymousId}
          {userId === null && <span class="row-note fine">Anonymous visitor</span>}
        </a>
      ),
    }),
    ...traits.map(trait =>
      sorted(trait, `trait:${trait}`, { cell: row => row.traits[trait] ?? none }),
    ),
    sorted('Flows', 'flows', { cell: flowsOf }),
    sorted('First seen', 'firstSeen', { cell: row => momentHere(row.firstSeenAt) }),
    sorted('Last seen', 'lastSeen', { cell: row => momentHere(row.lastSeenAt) }),
  ]
}
