import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Ways } from '../../../modules/dashboard/model.ts'
import { momentHere } from '../analytics/zone.ts'
import { base, manual } from '../api/base.ts'
import { Failure, failureOf, reach } from '../api/failure.ts'
import { session, signOut } from '../api/session.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { Opener } from '../parts/opener.tsx'
import { FailureNotice, Skeleton } from '../shell/states.tsx'
import { accessWords } from '../words/access.ts'
import { shellWords } from '../words/shell.ts'

const words = accessWords.signIn

/** The ways to sign in. */
function WaysIn() {
  const ways = useSignal<Ways | null>(null)
  const failure = useSignal<Failure | null>(null)
  const load = async () => {
    failure.value = null
    try {
      const response = await reach(`${base}/session/ways`, {})
      if (!response.ok) throw await failureOf(response)
      ways.value = await response.json()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      failure.value = error
    }
  }
  useEffect(() => void load(), [])
  if (failure.value) return <FailureNotice failure={failure.value} again={load} />
  if (!ways.value) return <Skeleton lines={3} />
  const { slug } = session.value!.organisation
  return (
    <Facts
      of={[
        [words.provider, ways.value.provider?.name ?? words.noProvider],
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
          [words.role, shellWords.roles[role]],
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
