import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { SignInMethods } from '../../../modules/dashboard/schema.ts'
import { base, manual } from '../api/base.ts'
import { Failure } from '../api/failure.ts'
import { askSession, readWays, renew, session } from '../api/session.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { TextField } from '../parts/text-field.tsx'
import { shellWords } from '../words/shell.ts'
import { formatClock } from '../words/time.ts'

const words = shellWords.signIn

const sentenceOf = (error: unknown, refused: string): string => {
  if (!(error instanceof Failure)) throw error
  if (error.status === 429) {
    const at = new Date(error.told.retryAt ?? Date.now()).toISOString()
    return `${shellWords.states.limited} (${formatClock(at, Intl.DateTimeFormat().resolvedOptions().timeZone)})`
  }
  if (error.isPassing) return error.status === 0 ? words.away : words.busy
  return error.status === 401 || error.status === 422 ? refused : words.other(error.message)
}

/** Signs in with a code or a token, and says why if that fails. */
function useRedeeming(onDone: () => void) {
  const problem = useSignal('')
  const isBusy = useSignal(false)
  const redeem = async (sent: { code: string } | { token: string }, refused: string) => {
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
      problem.value = sentenceOf(error, refused)
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
    if (token === '') problem.value = words.tokenMissing
    else redeem({ token }, words.tokenWrong)
  }
  return (
    <form onSubmit={submit}>
      <TextField
        label={words.token}
        hint={words.tokenWhy}
        problem={problem.value || undefined}
        value={pasted.value}
        onChange={text => (pasted.value = text)}
        type="password"
        autocomplete="off"
      />
      <Button type="submit" class="wide" isBusy={isBusy.value}>
        {words.tokenButton}
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
      <p>{words.linkWhy}</p>
      <Button
        look="primary"
        class="wide"
        isBusy={isBusy.value}
        onClick={() => redeem({ code }, words.linkSpent)}
      >
        {words.linkButton}
      </Button>
      <div role="alert">
        {problem.value && (
          <p class="problem">
            {problem.value} {problem.value === words.linkSpent && <code>{words.linkCommand}</code>}
          </p>
        )}
      </div>
    </>
  )
}

const Or = () => <div class="or">{words.or}</div>

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
    <div class="sign-in-ways">
      {problem !== null && (
        <p class="problem" role="alert">
          {words.problems[problem] ?? words.problem}
        </p>
      )}
      {code !== '' && <ByLink code={code} onDone={onDone} onSpent={onSpent} />}
      {isAway.value && (
        <p class="problem" role="alert">
          {words.away}
        </p>
      )}
      {known?.provider && (
        <>
          {code !== '' && <Or />}
          <LinkButton look="primary" href={`${known.provider.beginsAt}?to=${to}`} isOutside>
            {words.provider(known.provider.name)}
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
          {words.linkHow} <code>{words.linkCommand}</code>
        </p>
      )}
      <p class="hint">
        <a href={manual('dashboard')}>{words.manual}</a>
      </p>
    </div>
  )
}
