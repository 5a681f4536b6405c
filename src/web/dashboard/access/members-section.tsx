import type { MemberList } from '../../../modules/members/schema.ts'
import { useRead } from '../api/read.ts'
import { Opener } from '../parts/opener.tsx'
import { Table } from '../parts/table.tsx'
import { Reading } from '../shell/states.tsx'
import { invitationColumns, memberColumns } from './member-columns.tsx'
import { Invite } from './member-dialogs.tsx'

/** Who may sign in to the organisation's dashboard, and as what. */
export function MembersSection() {
  const list = useRead<MemberList>('/manage/members')
  return (
    <>
      <div class="section-action">
        <Opener look="primary" label="Invite member">
          {close => <Invite onClose={close} />}
        </Opener>
      </div>
      <Reading of={list} lines={4}>
        {({ members, invitations }) => (
          <>
            <Table
              caption="Members"
              columns={memberColumns}
              rows={members}
              keyOf={({ id }) => id}
              none="No members yet. Invite the first one."
            />
            {invitations.length > 0 && (
              <>
                <h3>Pending invitations</h3>
                <Table
                  caption="Pending invitations"
                  columns={invitationColumns}
                  rows={invitations}
                  keyOf={({ id }) => id}
                />
              </>
            )}
          </>
        )}
      </Reading>
    </>
  )
}
