import { useSignal } from '@preact/signals'
import type { StaticEncode } from '@sinclair/typebox'
import type { PeopleCount } from '../../../modules/people/schema.ts'
import { useAction } from '../api/action.ts'
import { useRead } from '../api/read.ts'
import { download } from '../api/request.ts'
import { may } from '../api/session.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { formatCount } from '../parts/format.ts'
import { saveFile } from '../parts/save-file.ts'
import { Table } from '../parts/table.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { FilterBar } from './filter-bar.tsx'
import { columnsOf, type ListedPeople } from './people-columns.tsx'
import { DeleteSegment, type SegmentList, segmentsPath } from './segment.tsx'

/** The list looks at much, so it is not read every few seconds. */
const everyMs = 60_000

function NobodyFound({ search }: { search: string | undefined }) {
  if (!search) {
    return (
      <Notice icon="person" title="No people yet">
        People appear once they see a flow, or your product sends an event about them.
      </Notice>
    )
  }
  return (
    <Notice
      icon="search"
      title={`Nobody with "${search}" in their ID`}
      actions={
        <LinkButton icon="explain" href={addressOf(['explain'], { user: search })}>
          Troubleshoot for {search}
        </LinkButton>
      }
    >
      Check the ID. Someone who has not seen a flow yet is not in the list.
    </Notice>
  )
}

/** Everyone whose events are stored, found by their ID, and filtered. */
export function PeopleList() {
  const { filters, withFilters, setFilters } = useFilters()
  const query = new URLSearchParams()
  for (const name of ['filter', 'segment'] as const) {
    if (filters[name]) query.set(name, filters[name])
  }
  if (filters.q) query.set('search', filters.q)
  const conditions = query.toString()
  const listed = new URLSearchParams(query)
  for (const name of ['sort', 'order', 'after'] as const) {
    if (filters[name]) listed.set(name, filters[name])
  }
  const page = useRead<ListedPeople>(`/manage/people?${listed}`, everyMs)
  // Counting looks at everybody, so the list comes first.
  const counted = useRead<StaticEncode<typeof PeopleCount>>(
    page.data && !page.isOld ? `/manage/people/count?${conditions}` : null,
    everyMs,
  )
  const flows = useRead<FlowList>(flowsPath)
  const { data } = useRead<SegmentList>(segmentsPath)
  const segments = data?.segments ?? []
  const segment = segments.find(({ id }) => id === filters.segment)
  const isDeleting = useSignal(false)
  const { isBusy, refused, run } = useAction()
  const csv = () =>
    run(async () =>
      saveFile(await download(`/manage/people/list.csv?${conditions}&bom=1`), 'people.csv'),
    )
  return (
    <>
      <FilterBar
        traits={page.data?.traits ?? []}
        flows={flows.data?.flows ?? []}
        segments={segments}
      >
        {segment && may('flows:write') && (
          <Button look="quiet" onClick={() => (isDeleting.value = true)}>
            Delete segment
          </Button>
        )}
        {(page.data?.people.length ?? 0) > 0 && (
          <span class="push">
            <Button icon="download" isBusy={isBusy.value} onClick={csv}>
              Download CSV
            </Button>
          </span>
        )}
      </FilterBar>
      <Reading of={page} lines={8}>
        {({ traits, people, next }) => (
          <>
            <div class="part-head">
              <p class="hint" role="status">
                {counted.data &&
                  (counted.data.people === counted.data.all
                    ? `${formatCount(counted.data.all)} people`
                    : `${formatCount(counted.data.people)} of ${formatCount(counted.data.all)} people`)}
              </p>
            </div>
            {refused.value && (
              <p class="problem" role="alert">
                The download failed. Try again.
              </p>
            )}
            {people.length === 0 ? (
              <NobodyFound search={filters.q} />
            ) : (
              <Table
                caption="People"
                columns={columnsOf(traits)}
                rows={people}
                isPart
                keyOf={row => `${row.userId} ${row.anonymousId}`}
              />
            )}
            {(next || filters.after) && (
              <nav class="pager footnote row" aria-label="Pages">
                {filters.after && (
                  <LinkButton href={withFilters({ after: null })}>First page</LinkButton>
                )}
                {next && <LinkButton href={withFilters({ after: next })}>Next page</LinkButton>}
              </nav>
            )}
          </>
        )}
      </Reading>
      {isDeleting.value && segment && (
        <DeleteSegment
          segment={segment}
          onClose={() => (isDeleting.value = false)}
          onDeleted={() => {
            isDeleting.value = false
            setFilters({ segment: null, after: null })
          }}
        />
      )}
    </>
  )
}
