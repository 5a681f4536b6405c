import { invalid, type Problem } from '../core/errors.ts'
import { queryOf } from './target.ts'

/** Most texts have nothing to decode, and `URLSearchParams` takes longer than all else in here. */
const decoded = (text: string) =>
  /[%+]/.test(text) ? (new URLSearchParams(`=${text}`).get('') ?? '') : text

/**
 * The parameters of a query in the order in which they were sent, names that are repeated as well
 * (URL standard, application/x-www-form-urlencoded parsing).
 */
export function parametersOf(request: Request): [name: string, value: string][] {
  const query = queryOf(request)
  const parameters: [string, string][] = []
  for (let at = 0; at < query.length; ) {
    const ampersand = query.indexOf('&', at)
    const end = ampersand < 0 ? query.length : ampersand
    const equals = query.indexOf('=', at)
    if (equals >= 0 && equals < end) {
      parameters.push([decoded(query.slice(at, equals)), decoded(query.slice(equals + 1, end))])
    } else if (end > at) parameters.push([decoded(query.slice(at, end)), ''])
    at = end + 1
  }
  return parameters
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

const namedTwice = (names: readonly string[]) =>
  names.map((name): Problem => ({ path: `/${name}`, message: 'Must be given once' }))
