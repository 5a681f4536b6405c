import { useSignal } from '@preact/signals'
import { manual } from '../api/base.ts'
import { roleNames, session, signOut } from '../api/session.ts'
import { Ribbon } from '../environments/ribbon.tsx'
import { Button } from '../parts/button.tsx'
import { Segments } from '../parts/choice.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { addressOf } from './address.ts'
import { opened } from './keyboard.ts'
import { addressOfPage, isOffered } from './offered.ts'
import { type PageRoute, routes } from './routes.ts'
import { appearance, appearances } from './settings.ts'

/** The pages that the signed-in person may open. A flow's pages count as part of the list of flows. */
function PageLinks({ current, onGo }: { current: PageRoute | null; onGo?: () => void }) {
  const offered = routes.filter(route => route.nav && isOffered(route))
  const isIn = ({ path }: PageRoute) =>
    path === current?.path || (path !== '' && current?.path.startsWith(`${path}/`))
  return (
    <nav class="page-links" aria-label="Pages">
      <ul>
        {offered.map(route => (
          <li key={route.path} class={route.nav!.isApart ? 'apart' : undefined}>
            <a
              href={addressOfPage(route)}
              aria-current={isIn(route) ? 'page' : undefined}
              onClick={onGo}
            >
              <Icon name={route.nav!.icon} />
              {route.name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Says who is signed in, and signs them out. */
function Account() {
  const failed = useSignal(false)
  const { role, person } = session.value!
  const leave = async (everywhere: boolean) => {
    failed.value = false
    try {
      await signOut(everywhere)
    } catch {
      failed.value = true
    }
  }
  return (
    <Menu
      look="quiet"
      label={
        <>
          <span class="face" aria-hidden="true">
            {person.isNamed && person.name.slice(0, 1).toUpperCase()}
          </span>
          <span class="unseen">Account </span>
          <span class="who">
            <strong class="ellipsis">{person.isNamed ? person.name : roleNames[role]}</strong>
            {person.isNamed && <small>{roleNames[role]}</small>}
          </span>
          <Icon name="down" />
        </>
      }
    >
      {() => (
        <>
          <Appearance />
          <a class="menu-item" href={manual('')}>
            <Icon name="book" />
            Manual
          </a>
          <button type="button" class="menu-item" onClick={() => leave(false)}>
            <Icon name="signOut" />
            Sign out
          </button>
          <button type="button" class="menu-item" onClick={() => leave(true)}>
            <Icon name="signOut" />
            Sign out everywhere
          </button>
          {failed.value && (
            <p class="problem" role="alert">
              Not signed out. Try again in a moment.
            </p>
          )}
        </>
      )}
    </Menu>
  )
}

const appearanceNames = { system: 'System', light: 'Light', dark: 'Dark' }

/** Chooses dark, light, or the system's setting. */
const Appearance = () => (
  <div class="menu-row line between gap-4">
    <span>Appearance</span>
    <Segments
      label="Appearance"
      options={appearances.map(name => [name, appearanceNames[name]] as const)}
      value={appearance.value}
      onChange={chosen => (appearance.value = chosen)}
    />
  </div>
)

/** Everything beside the page: the organisation, the links, and who is signed in. */
export function Sidebar({ current, onGo }: { current: PageRoute | null; onGo?: () => void }) {
  return (
    <>
      <a class="organisation line min-0" href={addressOf()} onClick={onGo}>
        <Mark />
        <span class="unseen">Organisation </span>
        <strong class="ellipsis">{session.value!.organisation.name}</strong>
      </a>
      <Ribbon />
      <Button
        class="jump-button"
        onClick={() => {
          onGo?.()
          opened.value = 'jump'
        }}
      >
        <Icon name="search" />
        <span>Search</span>
        <kbd class="push">Ctrl K</kbd>
      </Button>
      <PageLinks current={current} {...(onGo && { onGo })} />
      <div class="sidebar-end stack gap-1">
        <Button
          look="quiet"
          onClick={() => {
            onGo?.()
            opened.value = 'help'
          }}
        >
          <kbd>?</kbd> Keyboard shortcuts
        </Button>
        <Account />
      </div>
    </>
  )
}
