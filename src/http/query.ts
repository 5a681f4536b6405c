import { invalid, type Problem } from '../core/errors.ts'
import { shown } from '../core/text/wording.ts'
import { queryOf } from './request-context.ts'

/** The parameters of a query in the order in which they were sent, names that are repeated as well. */
export function parametersOf(request: Request): [name: string, value: string][] {
  const query = queryOf(request)
  // Most requests have none, and to find that out the class takes longer than all else in here.
  return query === '' ? [] : [...new URLSearchParams(query)]
}

/**
 * Parameters of a query, by name; other names are not looked at.
 *
 * @throws AppError `validation_failed` for a name that is given more than once: which of its
 *   values was meant cannot be known
 */
export function readQuery(request: Request, names: readonly string[]): Record<string, string> {
  const query: Record<string, string> = {}
  const repeated = new Set<string>()
  for (const [name, value] of parametersOf(request)) {
    if (!names.includes(name)) continue
    if (Object.hasOwn(query, name)) repeated.add(name)
    query[name] = value
  }
  if (repeated.size > 0) throw invalid(...namedTwice(names.filter(name => repeated.has(name))))
  return query
}

/** @throws AppError `validation_failed` for every other name than these */
export function requireKnown(request: Request, names: readonly string[]): void {
  const others = new Set(parametersOf(request).map(([name]) => name)).difference(new Set(names))
  if (others.size === 0) return
  throw invalid(
    ...[...others].map(
      (name): Problem => ({ path: `/${shown(name)}`, message: 'There is no such parameter' }),
    ),
  )
}

const namedTwice = (names: readonly string[]) =>
  names.map((name): Problem => ({ path: `/${name}`, message: 'Must be given once' }))
