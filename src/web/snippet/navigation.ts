import { safely } from './safely.ts'

/** How often the address is polled if the browser does not report its changes, milliseconds. */
const lookMs = 300

/** Calls `moved` when the address changes without a page load. The page's own `history` is left as it is. */
export function onNavigation(page: Window, moved: () => void): void {
  let last = page.location.href
  const look = () => {
    if (page.location.href === last) return
    last = page.location.href
    safely(moved)
  }
  const { navigation } = page as { navigation?: EventTarget }
  if (navigation) navigation.addEventListener('currententrychange', look)
  else page.setInterval(look, lookMs)
  page.addEventListener('popstate', look)
  page.addEventListener('hashchange', look)
}
