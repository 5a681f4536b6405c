import { AppError } from '../core/errors.ts'
import { pathOf, queryOf, type RequestContext } from './request-context.ts'
import type { Reply } from './responder.ts'

/**
 * Redirects a request for one of Cairn's pages or files that has a slash after its name, because the browser
 * would resolve the page's relative links below that name. The target is relative, because a proxy may have
 * put a path in front.
 *
 * @throws AppError `not_found` for a script, which would look beside the address that the page gave it
 */
export function ownAddress({ request }: RequestContext): Reply | null {
  const path = pathOf(request)
  if (!path.endsWith('/')) return null
  const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1)
  if (name.endsWith('.js')) throw new AppError('not_found', 'Nothing exists at this path')
  const query = queryOf(request)
  return { status: 308, headers: { Location: `../${name}${query && `?${query}`}` } }
}
