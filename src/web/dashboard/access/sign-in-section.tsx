import { momentHere } from '../analytics/zone.ts'
import { useOnce } from '../api/once.ts'
import { readWays, roleNames, session, signOut } from '../api/session.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { addressOf } from '../shell/address.ts'
import { FailureNotice, Skeleton } from '../shell/states.tsx'

/** The ways to sign in. */
function WaysIn() {
  const { value: ways, failure, again } = useOnce('ways', readWays)
  if (failure) return <FailureNotice failure={failure} again={again} />
  if (!ways) return <Skeleton lines={3} />
  return (
    <Facts
      of={[
        ['Identity provider', ways.provider?.name ?? 'Not connected'],
        [
          'Invitation link',
          <span>
            Owners create it in <a href={addressOf(['settings', 'members'])}>Members</a>.
          </span>,
        ],
        [
          'Operator link',
          <span>
            On the server, <code>cairn dashboard link</code> prints it.
          </span>,
        ],
        ['Session token', 'Read-only, until the token expires.'],
      ]}
    />
  )
}

/** The ways to sign in, and who is signed in here. */
export function SignInSection() {
  const { person, role, endsAt } = session.value!
  return (
    <>
      <h3>Ways to sign in</h3>
      <WaysIn />
      <h3>Your session</h3>
      <Facts
        of={[
          ['Name', person.name],
          ['Role', roleNames[role]],
          ['Ends', `${momentHere(endsAt)}, or earlier if you are not active`],
        ]}
      />
      <div class="row-actions">
        <ConfirmButton
          label="Sign out everywhere"
          title="Sign out everywhere"
          verb="Sign out"
          isDanger
          act={() => signOut(true)}
        >
          <p>All your sessions in this organisation end, in every browser.</p>
        </ConfirmButton>
      </div>
    </>
  )
}
