import { may } from '../api/session.ts'
import { addressOf } from './address.ts'
import { routes } from './routes.ts'

/**
 * The address of the first of these pages that exists and that the signed-in person may open; if there
 * is none, the address of the last one.
 *
 * @param paths paths as in the table of routes
 * @param flow the key of the flow that `:flow` stands for
 */
export function addressOfFirst(paths: readonly string[], flow = ''): string {
  const found =
    paths.find(path =>
      routes.some(route => route.path === path && (!route.needs || may(route.needs))),
    ) ?? paths.at(-1)!
  const parts = found.split('/').filter(Boolean)
  return addressOf(parts.map(part => (part === ':flow' ? flow : part)))
}
