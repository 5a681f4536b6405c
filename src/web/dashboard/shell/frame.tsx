import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { session } from '../api/session.ts'
import { nodesBehind, trouble } from '../api/trouble.ts'
import { Ribbon } from '../environments/ribbon.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { say, Toast } from '../parts/toast.tsx'
import { addressOf } from './address.ts'
import { Jump } from './jump.tsx'
import { listen, opened } from './keyboard.ts'
import { lazy } from './lazy.tsx'
import { placeOf } from './match.ts'
import { Sidebar } from './navigation.tsx'
import { isLoadingPage, Outlet } from './outlet.tsx'
import { PageHead } from './page-head.tsx'
import { Notice } from './states.tsx'

const Help = lazy(() => import('./help.tsx'))

/** Shown above all pages while there is something to say. */
const Banner = ({ children }: { children: string | null }) => (
  <div role="status">
    {children && (
      <div class="banner warn">
        <Icon name="warning" />
        <span>{children}</span>
      </div>
    )}
  </div>
)

const troubles = {
  away: 'Server unreachable. Trying again every few seconds.',
  busy: 'Server busy. You can read, but changes have to wait.',
}

/** Says that the server does not answer as it should. */
const Trouble = () => <Banner>{trouble.value && troubles[trouble.value]}</Banner>

/** Says that a change may not have reached every node. */
const Behind = () => (
  <Banner>
    {nodesBehind.value && 'Saved. Some visitors may see the old version for up to 45 seconds.'}
  </Banner>
)

/** Shown at an address of an organisation that this session is not for. */
function Elsewhere() {
  const { name } = session.value!.organisation
  return (
    <>
      <PageHead title="Not found" />
      <Notice
        icon="key"
        title={`You are signed in to ${name}`}
        actions={<LinkButton href={addressOf()}>Go to {name}</LinkButton>}
      >
        This page belongs to another organisation. Sign out, then sign in there.
      </Notice>
    </>
  )
}

/** The navigation beside the page or, on a narrow screen, behind a button. */
export function Frame() {
  const { path, route: go } = useLocation()
  const place = useMemo(() => placeOf(path), [path])
  const isOpen = useSignal(false)
  const close = () => (isOpen.value = false)
  useEffect(() => listen(go), [])
  useEffect(() => say(null), [path])
  const { slug } = session.value!.organisation
  return (
    <div class="frame">
      <a class="skip" href="#page">
        Skip to content
      </a>
      <div class="progress" data-active={isLoadingPage.value} />
      <aside class="sidebar">
        <Sidebar current={place.route} />
      </aside>
      <header class="top">
        <button
          type="button"
          class="button quiet square"
          aria-label="Open navigation"
          onClick={() => (isOpen.value = true)}
        >
          <Icon name="menu" />
        </button>
        <a class="organisation line min-0" href={addressOf()}>
          <Mark />
          <strong class="ellipsis">{session.value!.organisation.name}</strong>
        </a>
        <Ribbon />
      </header>
      {isOpen.value && (
        <Dialog title="Navigation" class="drawer" onClose={close}>
          <Sidebar current={place.route} onGo={close} />
        </Dialog>
      )}
      <main id="page" class="page">
        <Trouble />
        <Behind />
        {place.slug === slug ? <Outlet place={place} /> : <Elsewhere />}
      </main>
      <Toast />
      {opened.value === 'jump' && <Jump />}
      {opened.value === 'help' && <Help />}
    </div>
  )
}
