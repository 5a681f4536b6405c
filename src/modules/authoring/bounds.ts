/**
 * How much of a flow is validated within a request. Validation takes some 7 µs per value, so a mebibyte of
 * numbers would block a thread for seconds. No flow that pages could show comes near this.
 */
const maxValues = 15_000
const maxLevels = 50

/** What a JSON value has too much of; null if it is within the bounds. */
export function excessOfValue(value: unknown): string | null {
  let values = 0
  const open: { value: unknown; level: number }[] = [{ value, level: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    if (++values > maxValues) return tooMany
    if (typeof next.value !== 'object' || next.value === null) continue
    const level = next.level + 1
    if (level > maxLevels) return `Must be at most ${maxLevels} levels deep`
    // The values of a list are read one by one, at 600 ns each.
    const inside = Array.isArray(next.value) ? next.value : Object.values(next.value)
    if (values + inside.length > maxValues) return tooMany
    for (const each of inside) open.push({ value: each, level })
  }
  return null
}

const tooMany = `Must hold at most ${maxValues} values`

/** The same for the text of a flow file, estimated by the characters that can begin a value. */
export function excessOfText(text: string): string | null {
  let values = 0
  for (const _ of text.matchAll(/[,:[{\n]/g)) if (++values > maxValues) return tooMany
  return null
}
