import { useSignal } from '@preact/signals'
import type { MemberList } from '../../../modules/members/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { roleNames, session } from '../api/session.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { formatAge } from '../parts/format.ts'
import { StatusMessage } from '../parts/status-message.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Tip } from '../parts/tip.tsx'
import { Reading } from '../shell/states.tsx'
import { ChangeRole, Invite, SignInLink } from './member-dialogs.tsx'

export type Member = MemberList['members'][number]
type Invitation = MemberList['invitations'][number]

const methods: Readonly<Record<Member['method'], string>> = {
  provider: 'Identity provider',
  invitation: 'Invitation link',
  link: 'Operator link',
  token: 'Session token',
}

/** What somebody wants to do, which a dialog then asks about. */
type Wanted =
  | { what: 'invite' }
  | { what: 'role' | 'link' | 'remove'; member: Member }
  | { what: 'revoke'; invitation: Invitation }

const isOperator = () => session.value?.role === 'operator'

function Role({ role, isRoleProvided, method }: Member) {
  const why = isRoleProvided
    ? 'Role from your identity provider. Change it there.'
    : method === 'token'
      ? 'Session tokens are always read-only.'
      : undefined
  return <Tip text={why}>{roleNames[role]}</Tip>
}

function Actions({ member, want }: { member: Member; want: (wanted: Wanted) => void }) {
  const { name, role, isRoleProvided, method } = member
  if (role === 'operator' && !isOperator()) return null
  const hasLinks = method === 'invitation' || method === 'link'
  return (
    <span class="row-actions">
      {!isRoleProvided && method !== 'token' && (
        <Button
          aria-label={`Change role of ${name}`}
          onClick={() => want({ what: 'role', member })}
        >
          Change role
        </Button>
      )}
      {hasLinks && role !== 'operator' && (
        <Button
          aria-label={`Create sign-in link for ${name}`}
          onClick={() => want({ what: 'link', member })}
        >
          Create sign-in link
        </Button>
      )}
      <Button
        look="danger"
        aria-label={`Remove ${name}`}
        onClick={() => want({ what: 'remove', member })}
      >
        Remove
      </Button>
    </span>
  )
}

const memberColumns = (want: (wanted: Wanted) => void): Column<Member>[] => [
  {
    name: 'Name',
    isTitle: true,
    cell: ({ id, name }) => (
      <>
        {name} {id === session.value?.person.id && <Badge>You</Badge>}
      </>
    ),
  },
  { name: 'Role', cell: Role },
  { name: 'Signs in with', cell: ({ method }) => methods[method] },
  { name: 'Last seen', cell: ({ lastSeenAt }) => formatAge(lastSeenAt) },
  {
    head: <span class="unseen">Actions</span>,
    name: '',
    cell: member => <Actions member={member} want={want} />,
  },
]

const invitationColumns = (want: (wanted: Wanted) => void): Column<Invitation>[] => [
  { name: 'Name', isTitle: true, cell: ({ name }) => name ?? 'Asked at the first sign-in' },
  { name: 'Role', cell: ({ role }) => roleNames[role] },
  { name: 'Invited by', cell: ({ createdBy }) => createdBy },
  { name: 'Expires', cell: ({ expiresAt }) => momentHere(expiresAt) },
  {
    head: <span class="unseen">Actions</span>,
    name: '',
    cell: invitation => (
      <span class="row-actions">
        <Button
          look="danger"
          aria-label={`Revoke the invitation of ${invitation.name ?? roleNames[invitation.role]}`}
          onClick={() => want({ what: 'revoke', invitation })}
        >
          Revoke
        </Button>
      </span>
    ),
  },
]

const tokensOf = ({ tokens }: Member) =>
  tokens === 0
    ? ''
    : tokens === 1
      ? ' 1 management token that they created stops working.'
      : ` ${tokens} management tokens that they created stop working.`

/** Who may sign in to the organisation's dashboard, and as what. */
export function MembersSection() {
  const list = useRead<MemberList>('/manage/members')
  const statusText = useSignal<string | null>(null)
  const wanted = useSignal<Wanted | null>(null)
  const want = (next: Wanted) => (wanted.value = next)
  const close = () => (wanted.value = null)
  const remove = async (path: string, done: string) => {
    await act(path, { method: 'DELETE' })
    statusText.value = done
    readAgain()
  }
  const now = wanted.value
  return (
    <>
      <StatusMessage of={statusText} />
      <div class="row-actions">
        <Button look="primary" onClick={() => want({ what: 'invite' })}>
          Invite member
        </Button>
      </div>
      <Reading of={list} lines={4}>
        {({ members, invitations }) => (
          <>
            <Table
              caption="Members"
              columns={memberColumns(want)}
              rows={members}
              keyOf={({ id }) => id}
              none="No members yet. Invite the first one."
            />
            {invitations.length > 0 && (
              <>
                <h3>Pending invitations</h3>
                <Table
                  caption="Pending invitations"
                  columns={invitationColumns(want)}
                  rows={invitations}
                  keyOf={({ id }) => id}
                />
              </>
            )}
          </>
        )}
      </Reading>
      {now?.what === 'invite' && <Invite onClose={close} />}
      {now?.what === 'link' && <SignInLink member={now.member} onClose={close} />}
      {now?.what === 'role' && (
        <ChangeRole
          member={now.member}
          onChanged={sentence => (statusText.value = sentence)}
          onClose={close}
        />
      )}
      {now?.what === 'remove' && (
        <Confirm
          title={`Remove ${now.member.name}`}
          verb="Remove member"
          isDanger
          act={() => remove(`/manage/members/${now.member.id}`, `Removed ${now.member.name}.`)}
          onClose={close}
        >
          <p>
            {now.member.name} is signed out everywhere now, and links that they created stop
            working.{tokensOf(now.member)}
          </p>
          {now.member.method === 'provider' && (
            <p>
              Your identity provider can still let them sign in. Remove their access there, too.
            </p>
          )}
        </Confirm>
      )}
      {now?.what === 'revoke' && (
        <Confirm
          title="Revoke invitation"
          verb="Revoke invitation"
          isDanger
          act={() =>
            remove(`/manage/members/invitations/${now.invitation.id}`, 'Invitation revoked.')
          }
          onClose={close}
        >
          <p>The link stops working now.</p>
        </Confirm>
      )}
    </>
  )
}
