import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { session } from '../api/session.ts'
import { nodesBehind, trouble } from '../api/trouble.ts'
import { Ribbon } from '../environments/ribbon.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { shellWords as words } from '../words/shell.ts'
import { addressOf } from './address.ts'
import { Help } from './help.tsx'
import { Jump } from './jump.tsx'
import { listen, opened } from './keyboard.ts'
import { placeOf } from './match.ts'
import { Sidebar } from './navigation.tsx'
import { isLoadingPage, Outlet } from './outlet.tsx'
import { PageHead } from './page-head.tsx'
import { Notice } from './states.tsx'

/** Shown above all pages while there is something to say. */
const Banner = ({ children }: { children: string | null }) => (
  <div role="status">
    {children && (
      <div class="banner">
        <Icon name="warning" />
        <span>{children}</span>
      </div>
    )}
  </div>
)

/** Says that the server does not answer as it should. */
const Trouble = () => (
  <Banner>{trouble.value && `${words.states[trouble.value]} ${words.states.trying}`}</Banner>
)

/** Says that a change may not have reached every node. */
const Behind = () => (
  <Banner>{nodesBehind.value && words.states.nodesBehind(nodesBehind.value)}</Banner>
)

/** Shown at an address of an organisation that this session is not for. */
function Elsewhere() {
  const { name } = session.value!.organisation
  return (
    <>
      <PageHead title={words.states.notFound} />
      <Notice
        icon="key"
        title={words.states.elsewhere(name)}
        actions={<LinkButton href={addressOf()}>{words.states.elsewhereGo(name)}</LinkButton>}
      >
        {words.states.elsewhereWhy}
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
  const { slug } = session.value!.organisation
  return (
    <div class="frame">
      <a class="skip" href="#page">
        {words.skip}
      </a>
      <div class="progress" data-active={isLoadingPage.value} />
      <aside class="sidebar">
        <Sidebar current={place.route} />
      </aside>
      <header class="top">
        <button
          type="button"
          class="button quiet square"
          aria-label={words.openNavigation}
          onClick={() => (isOpen.value = true)}
        >
          <Icon name="menu" />
        </button>
        <a class="organisation" href={addressOf()}>
          <Mark />
          <strong>{session.value!.organisation.name}</strong>
        </a>
        <Ribbon />
      </header>
      {isOpen.value && (
        <Dialog title={words.navigation} class="drawer" onClose={close}>
          <Sidebar current={place.route} onGo={close} />
        </Dialog>
      )}
      <main id="page" class="page">
        <Trouble />
        <Behind />
        {place.slug === slug ? <Outlet place={place} /> : <Elsewhere />}
      </main>
      {opened.value === 'jump' && <Jump />}
      {opened.value === 'help' && <Help />}
    </div>
  )
}
