import { invalid, type Problem } from '../core/errors.ts'
import { queryOf } from './target.ts'

/**
 * Parameters of a query, by name; other names are not looked at.
 *
 * @throws AppError `validation_failed` for a name that is given more than once: which of its
 *   values was meant cannot be known
 */
export function readQuery(request: Request, names: readonly string[]): Record<string, string> {
  const sent = queryOf(request)
  const query: Record<string, string> = {}
  const problems: Problem[] = []
  for (const name of names) {
    const [value, ...others] = sent.getAll(name)
    if (others.length > 0) problems.push({ path: `/${name}`, message: 'Must be given once' })
    if (value !== undefined) query[name] = value
  }
  if (problems.length > 0) throw invalid(...problems)
  return query
}
