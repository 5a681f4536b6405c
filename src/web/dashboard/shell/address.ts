import { useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { base } from '../api/base.ts'
import { session } from '../api/session.ts'

/** The filters of a page, as its address has them. */
export type Filters = Record<string, string | null | undefined>

/** The filters as the query of an address; empty if there are none. */
export const queryOf = (filters: Filters): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value)
  return query.size > 0 ? `?${query}` : ''
}

/**
 * The address of a page of the organisation, such as `['flows', key]`. Each part is encoded, so that
 * it may contain any key.
 */
export function addressOf(parts: readonly string[] = [], filters: Filters = {}): string {
  const slug = session.value?.organisation.slug ?? ''
  return [base, slug, ...parts.map(encodeURIComponent)].join('/') + queryOf(filters)
}

/**
 * The filters in the address, and a way to change some of them: null removes one. Going back undoes a
 * change, unless it replaced the previous address. The filters are those of the caller's own page. That
 * page stays, dimmed, while the code of the next page is loaded, and must not read or change the filters
 * of the next page meanwhile.
 */
export function useFilters(): {
  filters: Readonly<Record<string, string | undefined>>
  setFilters(changed: Filters, options?: { replace?: boolean }): void
  /** This page's address with other filters. */
  withFilters(changed: Filters): string
} {
  const current = useLocation()
  const own = useRef(current)
  if (current.path === own.current.path) own.current = current
  const { path, query, route } = own.current
  const withFilters = (changed: Filters) => path + queryOf({ ...query, ...changed })
  return {
    filters: query,
    withFilters,
    setFilters(changed, { replace = false } = {}) {
      // An effect may run after the page has been left, or before it is drawn with what was just changed.
      const isLeft = location.pathname.replace(/\/+$/, '') !== path
      const now = Object.fromEntries(new URLSearchParams(location.search))
      if (!isLeft) route(path + queryOf({ ...now, ...changed }), replace)
    },
  }
}
