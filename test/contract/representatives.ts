import type { Case, Contract, RouteLine } from './document.ts'
import { routeOf } from './every-answer.ts'
import { requestOf } from './request.ts'

/** One case of a route: the first that begins with a successful answer to a caller without tight limits. */
export interface Representative {
  route: RouteLine
  name: string
  case: Case
}

const callers = [
  'key',
  'token',
  'manager',
  'reader',
  'writer',
  'owner',
  'their manager',
  'operator',
]

/** Cases that stand for all others where only the surroundings differ, at most one a route. */
export function representatives({ cases, routes }: Contract): Representative[] {
  const found = new Map<RouteLine, Representative>()
  for (const one of cases) {
    const [row] = one.rows
    if (!row || row.status >= 300 || row.times > 1 || !callers.includes(row.caller)) continue
    const route = routeOf(
      requestOf({ ...row, input: [] }, [], new Map(), () => 'x'),
      routes,
    )
    if (!route || route.method !== row.method || found.has(route)) continue
    found.set(route, { route, name: `${route.method} ${route.path}`, case: one })
  }
  return [...found.values()]
}
