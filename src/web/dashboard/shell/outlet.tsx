import { signal } from '@preact/signals'
import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { whilePending } from '../api/pending.ts'
import { Button } from '../parts/button.tsx'
import { Forbidden } from './forbidden.tsx'
import type { Place } from './match.ts'
import { isOffered } from './offered.ts'
import { PageHead } from './page-head.tsx'
import type { PageProps, PageRoute } from './routes.ts'
import { Missing, Notice, Skeleton } from './states.tsx'

/** Pages whose code was loaded. */
const loaded = new Map<PageRoute, ComponentType<PageProps>>()

const reloadedFor = 'cairn-reloaded'

/**
 * Loads a page's code. If the server was upgraded while this tab was open, the file has another name.
 * The document is then reloaded, once, to get the new names.
 */
async function load(route: PageRoute): Promise<void> {
  if (loaded.has(route)) return
  try {
    loaded.set(route, (await route.load()).default)
    sessionStorage.removeItem(reloadedFor)
  } catch (error) {
    if (sessionStorage.getItem(reloadedFor) === null) {
      sessionStorage.setItem(reloadedFor, route.path)
      location.reload()
      return new Promise(() => {})
    }
    throw error
  }
}

const reload = () => location.reload()

const Reload = ({ page, title, why }: { page: string; title: string; why: string }) => (
  <>
    <PageHead title={page} />
    <Notice
      icon="warning"
      title={title}
      isAlert
      actions={<Button onClick={reload}>Reload page</Button>}
    >
      {why}
    </Notice>
  </>
)

/** Keeps the navigation if the code of a page fails. Only that page is replaced. */
class Guard extends Component<
  { page: string; children: ComponentChildren },
  { isBroken: boolean }
> {
  override state = { isBroken: false }
  static override getDerivedStateFromError = () => ({ isBroken: true })
  override componentDidCatch(error: unknown) {
    console.error(error)
  }
  override render() {
    if (!this.state.isBroken) return this.props.children
    return (
      <Reload
        page={this.props.page}
        title="This page has failed"
        why="This is a bug in Cairn. Reload the page. Other pages still work."
      />
    )
  }
}

/** Whether the code of a page is being loaded. */
export const isLoadingPage = signal(false)

/** The page that the address names. The previous page stays, dimmed, until the code has come. */
export function Outlet({ place }: { place: Place }) {
  const [shown, setShown] = useState<Place | null>(null)
  const [failed, setFailed] = useState<Place | null>(null)
  useEffect(() => {
    const { route } = place
    if (!route || loaded.has(route)) return setShown(place)
    if (!isOffered(route)) return
    let isOver = false
    isLoadingPage.value = true
    whilePending(load(route))
      .then(() => isOver || setShown(place))
      .catch(() => isOver || setFailed(place))
      .finally(() => {
        isLoadingPage.value = false
      })
    return () => {
      isOver = true
    }
  }, [place])
  // Otherwise the page's requests would be refused, with messages that do not help anybody.
  const { route } = place
  if (route && !isOffered(route)) return <Forbidden route={route} />
  if (route && failed === place)
    return (
      <Reload page={route.name} title="Cairn was upgraded" why="Reload the page to continue." />
    )
  const ready = !route || loaded.has(route) ? place : shown
  if (!ready) return <Skeleton />
  if (!ready.route) {
    return (
      <>
        <PageHead title="Not found" />
        <Missing />
      </>
    )
  }
  const Page = loaded.get(ready.route)!
  // Another flow is another page, so nothing that was typed or opened is carried over.
  const key = [ready.route.path, ...Object.values(ready.params)].join('\n')
  return (
    <Guard key={key} page={ready.route.name}>
      <div class={ready === place ? undefined : 'old'}>
        <Page params={ready.params} />
      </div>
    </Guard>
  )
}
