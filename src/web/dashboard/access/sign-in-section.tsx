import { momentHere } from '../analytics/zone.ts'
import { manual } from '../api/base.ts'
import { useOnce } from '../api/once.ts'
import { readWays, roleNames, session, signOut } from '../api/session.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { Opener } from '../parts/opener.tsx'
import { FailureNotice, Skeleton } from '../shell/states.tsx'
import { accessWords } from '../words/access.ts'

const words = accessWords.signIn

/** The ways to sign in. */
function WaysIn() {
  const { value: ways, failure, again } = useOnce('ways', readWays)
  if (failure) return <FailureNotice failure={failure} again={again} />
  if (!ways) return <Skeleton lines={3} />
  const { slug } = session.value!.organisation
  return (
    <Facts
      of={[
        [words.provider, ways.provider?.name ?? words.noProvider],
        [
          words.link,
          <>
            {words.linkWhy} <code>{words.linkCommand(slug)}</code>
          </>,
        ],
        [words.token, words.tokenWhy],
      ]}
    />
  )
}

/** The ways to sign in, and who is signed in here. */
export function SignInSection() {
  const { person, role, endsAt } = session.value!
  return (
    <>
      <h3>{words.ways}</h3>
      <WaysIn />
      <h3>{words.mine}</h3>
      <Facts
        of={[
          [words.who, person.name],
          [words.role, roleNames[role]],
          [words.ends, words.endsWhy(momentHere(endsAt))],
        ]}
      />
      <div class="row-actions">
        <Opener look="danger" label={words.out}>
          {close => (
            <Confirm
              title={words.outTitle}
              verb={words.outVerb}
              isDanger
              act={() => signOut(true)}
              onClose={close}
            >
              <p>{words.outWhy}</p>
            </Confirm>
          )}
        </Opener>
      </div>
      <p class="footnote">
        <a href={manual('dashboard')}>{words.manual}</a>
      </p>
    </>
  )
}
