/**
 * How much of a flow is judged within a request. Judging takes some 7 µs a value, so that a mebibyte of
 * numbers would keep a thread from everything else for seconds; no flow that pages could show comes near.
 */
const mostValues = 15_000
const mostLevels = 50

/** What there is too much of in a JSON value; null where it is within the bounds. */
export function excessOfValue(value: unknown): string | null {
  let values = 0
  const open: { value: unknown; level: number }[] = [{ value, level: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    if (++values > mostValues) return tooMany
    if (typeof next.value !== 'object' || next.value === null) continue
    const level = next.level + 1
    if (level > mostLevels) return `Must be at most ${mostLevels} levels deep`
    const inside = Object.values(next.value)
    if (values + inside.length > mostValues) return tooMany
    for (const each of inside) open.push({ value: each, level })
  }
  return null
}

const tooMany = `Must hold at most ${mostValues} values`

/** The same of a flow file's text, by what can begin a value in one. */
export function excessOfText(text: string): string | null {
  let values = 0
  for (const _ of text.matchAll(/[,:[{\n]/g)) if (++values > mostValues) return tooMany
  return null
}
