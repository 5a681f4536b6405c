/** A value of YAML or JSON. */
export type Plain = string | number | boolean | null | Plain[] | { [name: string]: Plain }

export type Mapping = { [name: string]: Plain }

export type Path = readonly (string | number)[]

/** Whether two values are equal; the order of fields does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(
      name =>
        Object.hasOwn(b, name) && isSame(a[name as keyof typeof a], b[name as keyof typeof b]),
    )
  )
}

export const isMapping = (value: unknown): value is { [name: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path, or undefined. */
export function valueAt(value: Plain | undefined, path: Path): Plain | undefined {
  let at = value
  for (const name of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string | number, Plain>)[name]
  }
  return at
}
