import { useSignal } from '@preact/signals'
import type { MemberList } from '../../../modules/members/schema.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'
import { invitationColumns, type Member, memberColumns, type Wanted } from './member-columns.tsx'
import { ChangeRole, Invite, SignInLink } from './member-dialogs.tsx'

const tokensOf = ({ tokens }: Member) =>
  tokens === 0
    ? ''
    : tokens === 1
      ? ' 1 management token that they created stops working.'
      : ` ${tokens} management tokens that they created stop working.`

/** Who may sign in to the organisation's dashboard, and as what. */
export function MembersSection() {
  const list = useRead<MemberList>('/manage/members')
  const wanted = useSignal<Wanted | null>(null)
  const want = (next: Wanted) => (wanted.value = next)
  const close = () => (wanted.value = null)
  const remove = async (path: string, done: string) => {
    await act(path, { method: 'DELETE' })
    say(done)
    readAgain()
  }
  const now = wanted.value
  return (
    <>
      <div class="section-action">
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
      {now?.what === 'role' && <ChangeRole member={now.member} onChanged={say} onClose={close} />}
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
