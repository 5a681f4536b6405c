import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { SignInMethods } from '../../../modules/dashboard/schema.ts'
import { base, manual } from '../api/base.ts'
import { explained } from '../api/explained.ts'
import { Failure } from '../api/failure.ts'
import { askSession, readWays, renew, session } from '../api/session.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { TextField } from '../parts/text-field.tsx'

const linkCommand = 'cairn dashboard link'
const linkSpent =
  'This link was used or has expired. Ask an owner for a new one, or create one on the server:'
const tokenWrong =
  'This token does not work here. It may have expired, or belong to another server.'
const unreachable = 'Server unreachable. Try again in a moment.'

/** Why the identity provider sent somebody back without a sign-in. */
const problems: Readonly<Record<string, string>> = {
  provider_unavailable: 'Your identity provider does not respond. Try again in a moment.',
  expired: 'Signing in took too long, or started in another browser. Try again.',
  refused: 'Your identity provider did not allow it. Ask your administrator.',
  mismatch: 'Your identity provider sent an unexpected response. Try again.',
  no_organisation: 'Your account has no organisation. Ask your administrator.',
  unknown_organisation: 'Your organisation does not exist on this server. Ask your administrator.',
}

const sentenceOf = (error: unknown, rejected: string): string => {
  if (!(error instanceof Failure)) throw error
  if (error.status === 0) return unreachable
  return error.status === 401 || error.status === 422 ? rejected : explained(error)
}

/** Signs in with a code or a token, and says why if that fails. */
function useRedeeming(onDone: () => void) {
  const problem = useSignal('')
  const isBusy = useSignal(false)
  const redeem = async (sent: { code: string } | { token: string }, rejected: string) => {
    isBusy.value = true
    problem.value = ''
    const before = session.peek()?.organisation.id
    try {
      await askSession('redeem', sent)
      const { organisation } = await renew()
      // The page still shows the data of another organisation.
      if (before && before !== organisation.id) location.assign(`${base}/${organisation.slug}`)
      else onDone()
    } catch (error) {
      problem.value = sentenceOf(error, rejected)
    }
    isBusy.value = false
  }
  return { problem, isBusy, redeem }
}

function ByToken({ onDone }: { onDone: () => void }) {
  const pasted = useSignal('')
  const { problem, isBusy, redeem } = useRedeeming(onDone)
  const submit = (event: Event) => {
    event.preventDefault()
    const token = pasted.value.trim()
    if (token === '') problem.value = 'Paste a session token.'
    else redeem({ token }, tokenWrong)
  }
  return (
    <form class="stack gap-3" onSubmit={submit}>
      <TextField
        label="Session token"
        hint="For read-only access. From your identity provider or “cairn token issue”."
        problem={problem.value || undefined}
        value={pasted.value}
        onChange={text => (pasted.value = text)}
        type="password"
        autocomplete="off"
      />
      <Button type="submit" class="wide" isBusy={isBusy.value}>
        Sign in with a token
      </Button>
    </form>
  )
}

/** The code of a link is behind the `#`, which no server sees, so a preview of the link does not spend it. */
function ByLink({ code, onDone, onSpent }: { code: string; onDone(): void; onSpent(): void }) {
  const { problem, isBusy, redeem } = useRedeeming(() => {
    onSpent()
    onDone()
  })
  return (
    <>
      <p>This link signs you in once.</p>
      <Button
        look="primary"
        class="wide"
        isBusy={isBusy.value}
        onClick={() => redeem({ code }, linkSpent)}
      >
        Sign in with this link
      </Button>
      <div role="alert">
        {problem.value && (
          <p class="problem">
            {problem.value} {problem.value === linkSpent && <code>{linkCommand}</code>}
          </p>
        )}
      </div>
    </>
  )
}

const Or = () => <div class="or line gap-3 fine">or</div>

/** The ways to sign in, both on the sign-in page and in the dialog over a page whose session has ended. */
export function SignIn({
  code,
  onDone,
  onSpent,
}: {
  code: string
  onDone(): void
  onSpent(): void
}) {
  const ways = useSignal<SignInMethods | null>(null)
  const isAway = useSignal(false)
  useEffect(() => {
    readWays().then(
      read => {
        ways.value = read
      },
      () => {
        isAway.value = true
      },
    )
  }, [])
  const known = ways.value
  const to = encodeURIComponent(location.pathname + location.search)
  const problem = new URLSearchParams(location.search).get('problem')
  return (
    <div class="sign-in-ways stack">
      {problem !== null && (
        <p class="problem" role="alert">
          {problems[problem] ?? 'Signing in failed. Try again.'}
        </p>
      )}
      {code !== '' && <ByLink code={code} onDone={onDone} onSpent={onSpent} />}
      {isAway.value && (
        <p class="problem" role="alert">
          {unreachable}
        </p>
      )}
      {known?.provider && (
        <>
          {code !== '' && <Or />}
          <LinkButton look="primary" href={`${known.provider.beginsAt}?to=${to}`} isOutside>
            Continue with {known.provider.name}
          </LinkButton>
        </>
      )}
      {known?.token && (
        <>
          {(code !== '' || known.provider) && <Or />}
          <ByToken onDone={onDone} />
        </>
      )}
      {known?.link && code === '' && (
        <p class="hint">
          For a sign-in link, run <code>{linkCommand}</code> on the server.
        </p>
      )}
      <p class="hint">
        <a href={manual('dashboard')}>How to sign in</a>
      </p>
    </div>
  )
}
