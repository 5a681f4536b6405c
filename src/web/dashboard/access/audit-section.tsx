import { useSignal } from '@preact/signals'
import type { AuditLog } from '../../../modules/access/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { session } from '../api/session.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { queryOf, useFilters } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { auditActions } from './audit-actions.ts'
import { AuditChange, type AuditLine } from './audit-change.tsx'

/** The organisation's own changes have its ID as their subject; people know its name. */
function shownSubject(subject: string): string {
  const organisation = session.value?.organisation
  return subject === organisation?.id ? organisation.name : subject
}

/** The subject that somebody means who types what is shown. */
function subjectShownAs(text: string): string {
  const organisation = session.value?.organisation
  return organisation && text === organisation.name ? organisation.id : text
}

const columns = (addressOfSubject: (subject: string) => string): Column<AuditLine>[] => [
  {
    name: 'When',
    isTitle: true,
    cell: ({ at }) => <time dateTime={at}>{momentHere(at)}</time>,
  },
  {
    name: 'Who',
    cell: ({ actor, via }) => (
      <span>
        {actor}
        <span class="row-note">{via === 'mail' ? 'link in a mail' : via}</span>
      </span>
    ),
  },
  {
    name: 'What',
    cell: ({ action, subject }) => (
      <span>
        {auditActions[action] ?? action}
        <span class="row-note">
          <a href={addressOfSubject(subject)} title={`Changes of “${shownSubject(subject)}”`}>
            <code>{shownSubject(subject)}</code>
          </a>
        </span>
      </span>
    ),
  },
  {
    name: 'Change',
    cell: line => (
      <div class="stack gap-1 min-0">
        {line.note && <p>“{line.note}”</p>}
        <AuditChange line={line} />
        {line.requestId && (
          <details class="fine">
            <summary>Details</summary>
            Request <code>{line.requestId}</code>
          </details>
        )}
      </div>
    ),
  },
]

/** Chooses whose changes are shown. */
function Find() {
  const { filters, setFilters } = useFilters()
  const typed = useSignal<string | null>(null)
  const text = typed.value ?? shownSubject(filters.subject ?? '')
  const show = (subject: string) => {
    typed.value = null
    setFilters({ subject: subjectShownAs(subject.trim()) || null, before: null })
  }
  return (
    <form
      class="controls row below-4"
      onSubmit={event => {
        event.preventDefault()
        show(text)
      }}
    >
      <input
        class="input search"
        type="search"
        aria-label="Changes of"
        placeholder="Member, flow key or token ID"
        maxLength={128}
        value={text}
        onInput={event => (typed.value = event.currentTarget.value)}
      />
      <Button type="submit">Show</Button>
      {filters.subject && (
        <Button look="quiet" onClick={() => show('')}>
          Show all
        </Button>
      )}
    </form>
  )
}

function Empty() {
  const { filters, withFilters } = useFilters()
  const all = { subject: null, before: null }
  if (filters.before) {
    return (
      <Notice
        title="No older changes"
        actions={<LinkButton href={withFilters({ before: null })}>Newest</LinkButton>}
      />
    )
  }
  if (!filters.subject)
    return (
      <Notice title="No changes yet">
        Changes of flows, settings, members, keys and tokens appear here.
      </Notice>
    )
  return (
    <Notice
      title="No matching changes"
      actions={<LinkButton href={withFilters(all)}>Show all</LinkButton>}
    >
      Search by the exact name: a member’s name, a flow’s key, or a token’s ID.
    </Notice>
  )
}

/** Who changed what. */
export function AuditSection() {
  const { filters, withFilters } = useFilters()
  const { subject, before } = filters
  const log = useRead<AuditLog>(`/manage/audit${queryOf({ subject, before })}`)
  const addressOfSubject = (subject: string) => withFilters({ subject, before: null })
  return (
    <>
      <Find />
      <Reading of={log} lines={8}>
        {({ lines, next }) =>
          lines.length === 0 ? (
            <Empty />
          ) : (
            <>
              <Table
                caption="Who changed what, newest first."
                class="audit"
                columns={columns(addressOfSubject)}
                rows={lines}
                keyOf={({ line }) => line}
              />
              <nav class="pager footnote row" aria-label="Audit">
                {filters.before && (
                  <LinkButton href={withFilters({ before: null })}>Newest</LinkButton>
                )}
                {next !== null && (
                  <LinkButton href={withFilters({ before: `${next}` })}>Older</LinkButton>
                )}
              </nav>
            </>
          )
        }
      </Reading>
    </>
  )
}
