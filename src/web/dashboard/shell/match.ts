import { exec } from 'preact-iso/router'
import { base } from '../api/base.ts'
import { type PageRoute, routes } from './routes.ts'

/** What an address names. */
export interface Place {
  /** The organisation's slug; null where the address names none. */
  slug: string | null
  /** Null where there is no such page. */
  route: PageRoute | null
  params: Readonly<Record<string, string>>
}

/** Reads an address; one that names no page leads to the page that says so. */
export function placeOf(path: string): Place {
  const [slug = '', ...rest] = path.slice(base.length).split('/').filter(Boolean)
  if (slug === '') return { slug: null, route: null, params: {} }
  for (const route of routes) {
    try {
      const match = exec(`/${rest.join('/')}`, `/${route.path}`)
      if (match) return { slug, route, params: match.params }
    } catch {
      // What cannot be decoded is no page.
    }
  }
  return { slug, route: null, params: {} }
}
