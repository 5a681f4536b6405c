import { useSignal } from '@preact/signals'
import type { CreatedInvitation, MemberLink, MemberList } from '../../../modules/members/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { base } from '../api/base.ts'
import type { Failure } from '../api/failure.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { roleNames } from '../api/session.ts'
import { problemsAt } from '../organisations/saving.ts'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Code } from '../parts/code.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/text-field.tsx'
import { say } from '../parts/toast.tsx'

export type Member = MemberList['members'][number]
type Role = MemberList['invitations'][number]['role']

const choices = [
  ['viewer', roleNames.viewer, 'Sees flows and results.'],
  ['editor', roleNames.editor, 'Also creates and publishes flows, and sees people.'],
  ['owner', roleNames.owner, 'Also manages settings, members and tokens, and erases people.'],
] as const

/** A link, which is shown only now. */
function ShownLink({
  title,
  link: { code, expiresAt },
  whose,
  onClose,
}: {
  title: string
  link: { code: string; expiresAt: string }
  whose: string
  onClose: () => void
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        Send this link to {whose}. It works once, until {momentHere(expiresAt)}. Copy it now: it is
        not shown again.
      </p>
      <Code name="Link">{`${location.origin}${base}/sign-in#${code}`}</Code>
      <div class="dialog-end row end">
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}

/** Creates an invitation, and shows its link. */
export function Invite({ onClose }: { onClose: () => void }) {
  const name = useSignal('')
  const role = useSignal<Role>('editor')
  const rejected = useSignal<Failure | null>(null)
  const made = useSignal<CreatedInvitation | null>(null)
  if (made.value) {
    const whose = made.value.name ?? 'the person'
    return (
      <ShownLink title="Invitation created" link={made.value} whose={whose} onClose={onClose} />
    )
  }
  const given = name.value.trim()
  return (
    <Confirm
      title="Invite member"
      verb="Create invitation link"
      isOpenAfter
      act={async () => {
        const body = { role: role.value, ...(given !== '' && { name: given }) }
        made.value = await act<CreatedInvitation>('/manage/members/invitations', { body })
        readAgain()
      }}
      onRefused={failure => (rejected.value = failure)}
      showsItself={failure => problemsAt(failure, '/name').length > 0}
      onClose={onClose}
    >
      <TextField
        label="Name"
        isOptional
        hint="Shown beside their changes. If empty, Cairn asks at the first sign-in."
        maxLength={100}
        problem={problemsAt(rejected.value, '/name')[0]?.message}
        isProblemOld={rejected.value !== null}
        value={name.value}
        onChange={text => {
          name.value = text
          rejected.value = null
        }}
      />
      <Choice
        label="Role"
        options={choices}
        value={role.value}
        onChange={chosen => (role.value = chosen)}
      />
    </Confirm>
  )
}

/** Asks what a member may do from now on. */
export function ChangeRole({
  member: { id, name, role: before, tokens },
  onClose,
}: {
  member: Member
  onClose: () => void
}) {
  const role = useSignal<Member['role']>(before)
  const order = ['viewer', 'editor', 'owner', 'operator']
  const isLess = order.indexOf(role.value) < order.indexOf(before)
  return (
    <Confirm
      title={`Change the role of ${name}`}
      verb="Change role"
      isReady={role.value !== before}
      act={async () => {
        await act(`/manage/members/${id}`, { method: 'PATCH', body: { role: role.value } })
        say(`${name} is now ${roleNames[role.value].toLowerCase()}.`)
        readAgain()
      }}
      onClose={onClose}
    >
      <Choice
        label="Role"
        options={choices}
        value={role.value}
        onChange={chosen => (role.value = chosen)}
      />
      {isLess && tokens > 0 && (
        <p>Management tokens that {name} created and that allow more than this stop working.</p>
      )}
    </Confirm>
  )
}

/** Creates a link with which a member signs in again. */
export function SignInLink({ member, onClose }: { member: Member; onClose: () => void }) {
  const made = useSignal<MemberLink | null>(null)
  const { id, name } = member
  if (made.value) {
    return (
      <ShownLink title="Sign-in link created" link={made.value} whose={name} onClose={onClose} />
    )
  }
  return (
    <Confirm
      title={`Create a sign-in link for ${name}`}
      verb="Create sign-in link"
      isOpenAfter
      act={async () => {
        made.value = await act<MemberLink>(`/manage/members/${id}/links`, {})
      }}
      onClose={onClose}
    >
      <p>
        For another browser, or after {name} was signed out. Earlier sign-in links for {name} stop
        working.
      </p>
    </Confirm>
  )
}
