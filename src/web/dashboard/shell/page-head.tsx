import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { session } from '../api/session.ts'

/** The address of the page shown last. The focus moves only to a new page. */
let lastPath: string | null = null

/**
 * The head of a page with its only main heading. The heading gets the focus if somebody has come from
 * another page, and gives the window its title.
 */
export function PageHead({
  title,
  part,
  above,
  beside,
  actions,
  children,
}: {
  title: string
  /** Which of several pages under one heading this is. The window's title includes it. */
  part?: string | undefined
  /** What the page belongs to, such as a link to its list. */
  above?: ComponentChildren
  /** Badges. */
  beside?: ComponentChildren
  actions?: ComponentChildren
  children?: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  const organisation = session.value?.organisation.name
  useEffect(() => {
    const names = [part, title, organisation, 'Cairn']
    document.title = names.filter(Boolean).join(' · ')
  }, [part, title, organisation])
  // Before the next paint, so that a key pressed as soon as the page is visible already starts here.
  useLayoutEffect(() => {
    if (lastPath !== null && lastPath !== location.pathname) {
      heading.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    lastPath = location.pathname
  }, [])
  return (
    <header class="page-head stack gap-2">
      {above && <nav class="above">{above}</nav>}
      <div class="row gap-3">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {beside}
        {actions && <div class="actions push">{actions}</div>}
      </div>
      {children}
    </header>
  )
}
