import { useSignal } from '@preact/signals'
import type { AuditLog } from '../../../modules/access/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { queryOf, useFilters } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { AuditChange, type AuditLine } from './audit-change.tsx'

const words = {
  via: {
    'command line': 'command line',
    token: 'token',
    dashboard: 'dashboard',
    mail: 'link in a mail',
  },
  actions: {
    'organisation.create': 'Created the organisation',
    'settings.change': 'Changed settings',
    'key.rotate': 'Rotated the snippet key',
    'identity_secret.rotate': 'Rotated the identity secret',
    'token.create': 'Created a token',
    'token.revoke': 'Revoked a token',
    'dashboard.link': 'Created a sign-in link',
    'member.invite': 'Invited a member',
    'member.invite_revoke': 'Revoked an invitation',
    'member.link': 'Created a sign-in link for a member',
    'member.name': 'Gave their name',
    'member.role': 'Changed a role',
    'member.remove': 'Removed a member',
    'dashboard.sign_in': 'Signed in',
    'flow.edit': 'Edited the draft',
    'flow.push': 'Pushed a flow',
    'flow.push_and_publish': 'Pushed and published',
    'flow.publish': 'Published',
    'flow.unpublish': 'Unpublished',
    'flow.archive': 'Archived',
    'flow.restore': 'Rolled back',
    'flow.discard': 'Discarded the draft',
    'flow.unlock': 'Unlocked the flow',
    'flow.pin': 'Saved an element snapshot',
    'flow.repair': 'Updated a selector',
    'flow.preview': 'Created a preview link',
    'flow.end_preview': 'Revoked a preview link',
    'flow.promote': 'Promoted from staging',
    'flow.promoted': 'Promoted to production',
    'image.upload': 'Uploaded an image',
    'image.delete': 'Deleted an image',
    'segment.create': 'Created a segment',
    'segment.change': 'Changed a segment',
    'segment.delete': 'Deleted a segment',
    'webhook.create': 'Added a webhook',
    'webhook.change': 'Changed a webhook',
    'webhook.remove': 'Removed a webhook',
    'webhook.rotate': 'Rotated a webhook secret',
    'webhook.test': 'Tested a webhook',
    'webhook.replay': 'Sent a delivery again',
    'alerts.change': 'Changed alert rules',
    'alerts.ask': 'Requested an address for the report',
    'alerts.send': 'Sent the report',
    'organisation.link': 'Linked an organisation',
    'organisation.unlink': 'Unlinked an organisation',
    'person.erase': 'Erased a person',
    'person.allow': 'Lifted an erasure',
    'dead_letters.retry': 'Retried dead letters',
    'dead_letters.drop': 'Dropped dead letters',
    'analytics.rebuild': 'Rebuilt results',
    'database.compact': 'Compacted the database',
  } as Readonly<Record<string, string>>,
  of: (subject: string) => `Changes of “${subject}”`,
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
        <span class="row-note fine">{words.via[via]}</span>
      </span>
    ),
  },
  {
    name: 'What',
    cell: ({ action, subject }) => (
      <span>
        {words.actions[action] ?? action}
        <span class="row-note fine">
          <a href={addressOfSubject(subject)} title={words.of(subject)}>
            <code>{subject}</code>
          </a>
        </span>
      </span>
    ),
  },
  {
    name: 'Change',
    cell: line => (
      <div class="change">
        {line.note && <p class="note">“{line.note}”</p>}
        <AuditChange line={line} />
        {line.requestId && (
          <span class="row-note fine">
            Request <code>{line.requestId}</code>
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
        placeholder="A member’s name, a flow’s key, a token’s ID"
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
              <nav class="pager" aria-label="Audit">
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
