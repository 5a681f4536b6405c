import { useSignal } from '@preact/signals'
import type { AuditLog } from '../../../modules/access/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { queryOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { Notice, Reading } from '../shell/states.tsx'
import { accessWords } from '../words/access.ts'
import { AuditChange, type AuditLine } from './audit-change.tsx'

const words = accessWords.audit

const columns = (addressOfSubject: (subject: string) => string): Column<AuditLine>[] => [
  {
    name: words.when,
    isTitle: true,
    cell: ({ at }) => <time dateTime={at}>{momentHere(at)}</time>,
  },
  {
    name: words.who,
    cell: ({ actor, via }) => (
      <span>
        {actor}
        <span class="row-note">{words.via[via]}</span>
      </span>
    ),
  },
  {
    name: words.what,
    cell: ({ action, subject }) => (
      <span>
        {words.actions[action] ?? action}
        <span class="row-note">
          <a href={addressOfSubject(subject)} title={words.of(subject)}>
            <code>{subject}</code>
          </a>
        </span>
      </span>
    ),
  },
  {
    name: words.change,
    cell: line => (
      <div class="change">
        {line.note && <p class="note">“{line.note}”</p>}
        <AuditChange line={line} />
        {line.requestId && (
          <span class="row-note">
            {words.request} <code>{line.requestId}</code>
          </span>
        )}
      </div>
    ),
  },
]

/** Chooses whose changes are shown. */
function Find() {
  const { filters, setFilters } = useFilters()
  const typed = useSignal<string | null>(null)
  const text = typed.value ?? filters.subject ?? ''
  const show = (subject: string) => {
    typed.value = null
    setFilters({ subject: subject.trim() || null, before: null })
  }
  return (
    <form
      class="controls"
      onSubmit={event => {
        event.preventDefault()
        show(text)
      }}
    >
      <input
        class="input search"
        type="search"
        aria-label={words.find}
        placeholder={words.findHint}
        maxLength={128}
        value={text}
        onInput={event => (typed.value = event.currentTarget.value)}
      />
      <Button type="submit">{words.show}</Button>
      {filters.subject && (
        <Button look="quiet" onClick={() => show('')}>
          {words.all}
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
        title={words.noMore}
        actions={<LinkButton href={withFilters({ before: null })}>{words.newest}</LinkButton>}
      />
    )
  }
  if (!filters.subject) return <Notice title={words.none}>{words.noneWhy}</Notice>
  return (
    <Notice
      title={words.noneOf}
      actions={<LinkButton href={withFilters(all)}>{words.all}</LinkButton>}
    >
      {words.noneOfWhy}
    </Notice>
  )
}

/** Who changed what. */
export default function AuditPage() {
  const { filters, withFilters } = useFilters()
  const { subject, before } = filters
  const log = useRead<AuditLog>(`/manage/audit${queryOf({ subject, before })}`)
  const addressOfSubject = (subject: string) => withFilters({ subject, before: null })
  return (
    <>
      <PageHead title={words.title}>
        <p class="hint">{words.why}</p>
      </PageHead>
      <Find />
      <Reading of={log} lines={8}>
        {({ lines, next }) =>
          lines.length === 0 ? (
            <Empty />
          ) : (
            <>
              <Table
                caption={words.why}
                class="audit"
                columns={columns(addressOfSubject)}
                rows={lines}
                keyOf={({ line }) => line}
              />
              <nav class="pager" aria-label={words.title}>
                {filters.before && (
                  <LinkButton href={withFilters({ before: null })}>{words.newest}</LinkButton>
                )}
                {next !== null && (
                  <LinkButton href={withFilters({ before: `${next}` })}>{words.older}</LinkButton>
                )}
              </nav>
            </>
          )
        }
      </Reading>
    </>
  )
}
