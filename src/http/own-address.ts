import { AppError } from '../core/errors.ts'
import { pathOf, queryOf, type RequestContext } from './request-context.ts'
import type { Reply } from './responder.ts'

/**
 * Where a page or file of ours is, if it was asked for with a slash behind its name: what it names
 * beside itself would be looked for below it. Relative, because a proxy may have put a path in front.
 *
 * @throws AppError `not_found` for a script: it would look beside the address that the page gave it
 */
export function ownAddress({ request }: RequestContext): Reply | null {
  const path = pathOf(request)
  if (!path.endsWith('/')) return null
  const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1)
  if (name.endsWith('.js')) throw new AppError('not_found', 'There is nothing at this path')
  const query = queryOf(request)
  return { status: 308, headers: { Location: `../${name}${query && `?${query}`}` } }
}
