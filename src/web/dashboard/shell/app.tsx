import { useEffect } from 'preact/hooks'
import { LocationProvider, useLocation } from 'preact-iso'
import { YourName } from '../access/your-name.tsx'
import { base } from '../api/base.ts'
import { Failure } from '../api/failure.ts'
import { presence, renew, session } from '../api/session.ts'
import { trouble } from '../api/trouble.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Mark } from '../parts/icon.tsx'
import { addressOf } from './address.ts'
import { Frame } from './frame.tsx'
import { placeOf } from './match.ts'
import { SignIn } from './sign-in.tsx'
import { Notice, Skeleton } from './states.tsx'

const signInPath = `${base}/sign-in`
/** The address of the server's page without an organisation, because every organisation is on the server. */
const serverPath = `${base}/server`
/** Stands for the organisation of whoever is signed in: pages on which a flow is built know none. */
const ownPath = `${base}/-/`
const retryMs = 3_000

/** The code of a sign-in link. It works once, and is removed from the address when it is spent. */
const codeInAddress = () => (location.pathname === signInPath ? location.hash.slice(1) : '')

/** Asks the server who is signed in, until it has answered. */
function useSession(): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = () =>
      renew().catch(error => {
        if (error instanceof Failure && error.status === 401) return
        trouble.value = 'away'
        timer = setTimeout(ask, retryMs)
      })
    ask()
    // The page's code comes meanwhile. Whether it may be shown, and what to do if it fails, is decided later.
    placeOf(location.pathname)
      .route?.load()
      .catch(() => {})
    return () => clearTimeout(timer)
  }, [])
}

function SignInPage() {
  const { route, path } = useLocation()
  const code = codeInAddress()
  useEffect(() => {
    document.title = 'Sign in · Cairn'
  }, [])
  const done = () => {
    if (path === signInPath) route(addressOf(), true)
  }
  return (
    <main class="sign-in stack">
      <Mark size={36} />
      <h1>{code ? 'Open the dashboard' : 'Sign in to Cairn'}</h1>
      <SignIn
        code={code}
        onDone={done}
        onSpent={() => history.replaceState(null, '', signInPath)}
      />
    </main>
  )
}

/** Signs in over the page. When a session ends, the page stays, because it may have half-written work. */
const SignInAgain = () => (
  <Dialog title="Your session has ended" class="narrow">
    <p>Sign in again to continue. Nothing on the page is lost.</p>
    <SignIn code="" onDone={() => {}} onSpent={() => {}} />
  </Dialog>
)

function Pages() {
  const { path, url, route } = useLocation()
  useSession()
  const isIn = presence.value === 'in'
  // Unless an organisation has this slug.
  const isServer = path === serverPath && session.value?.organisation.slug !== 'server'
  const isOwn = path.startsWith(ownPath)
  const isAtDoor = path === signInPath || path === base || path === '/' || isServer || isOwn
  const hasCode = codeInAddress() !== ''
  useEffect(() => {
    if (!isIn || !isAtDoor || hasCode) return
    const within = isOwn ? url.slice(ownPath.length - 1) : ''
    route(addressOf(isServer ? ['server'] : []) + within, true)
  }, [isIn, isAtDoor, hasCode])
  if (presence.value === 'out' && session.value === null) return <SignInPage />
  if (session.value === null) {
    if (!trouble.value) return <Skeleton lines={0} />
    return (
      <main class="sign-in stack">
        <h1 class="unseen">Cairn</h1>
        <Notice icon="warning" title="Server unreachable" isAlert>
          Trying again every few seconds.
        </Notice>
      </main>
    )
  }
  // A person who follows a sign-in link while signed in wants to be signed in as the link says.
  if (path === signInPath) return hasCode ? <SignInPage /> : <Skeleton lines={0} />
  if (isAtDoor) return <Skeleton lines={0} />
  return (
    <>
      <Frame />
      {presence.value === 'out' ? <SignInAgain /> : !session.value.person.isNamed && <YourName />}
    </>
  )
}

/** The dashboard. */
export const App = () => (
  <LocationProvider scope={`${base}/`}>
    <Pages />
  </LocationProvider>
)
