import { exec } from 'preact-iso/router'
import { base } from '../api/base.ts'
import { type PageRoute, routes } from './routes.ts'

/** The page that an address names. */
export interface Place {
  /** The organisation's slug; null if the address names none. */
  slug: string | null
  /** Null if there is no such page. */
  route: PageRoute | null
  params: Readonly<Record<string, string>>
}

/** Reads an address. If it names no page, the page that says so is shown. */
export function placeOf(path: string): Place {
  const [slug = '', ...rest] = path.slice(base.length).split('/').filter(Boolean)
  if (slug === '') return { slug: null, route: null, params: {} }
  for (const route of routes) {
    try {
      const match = exec(`/${rest.join('/')}`, `/${route.path}`)
      if (match) return { slug, route, params: match.params }
    } catch {
      // An address that cannot be decoded is not a page.
    }
  }
  return { slug, route: null, params: {} }
}
