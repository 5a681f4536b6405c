/**
 * Patterns of answers: values in which `<time>` and similar words stand for what differs from run to run. `…`
 * in a text stands for any characters, and `…` as a field or an element for any more of them.
 */

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const isNear = (a: number, b: number) => Math.abs(a - b) <= 60_000

/** The words that stand for values, and what they let through. */
const words: Record<string, (value: unknown) => boolean> = {
  any: value => value !== undefined,
  text: value => typeof value === 'string' && value !== '',
  number: value => typeof value === 'number',
  time: value => typeof value === 'string' && isoTime.test(value),
  /** A time within a minute of now, in an answer to a request that named no time. */
  now: value =>
    typeof value === 'string' && isoTime.test(value) && isNear(Date.parse(value), Date.now()),
}

/** Whether a text stands for anything but itself. */
const isPattern = (text: string) => /<[a-z0-9 -]+>|…/.test(text)

function fitsWord(word: string, value: unknown): boolean {
  const [, about] = /^about (-?\d+)$/.exec(word) ?? []
  if (about !== undefined) return typeof value === 'number' && isNear(Number(about), value)
  const [, least, most] = /^(\d+) to (\d+)$/.exec(word) ?? []
  if (most !== undefined) return Number(value) >= Number(least) && Number(value) <= Number(most)
  const fits = words[word]
  if (!fits) throw new Error(`There is no <${word}>: use ${Object.keys(words).join(', ')}`)
  return fits(value)
}

function fitsText(pattern: string, value: unknown): boolean {
  const [, word] = /^<([a-z0-9 -]+)>$/.exec(pattern) ?? []
  if (word !== undefined) return fitsWord(word, value)
  const parts = pattern.split('…').map(RegExp.escape)
  return typeof value === 'string' && new RegExp(`^${parts.join('[^]*')}$`).test(value)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The pattern, in which each part that the value fits is replaced by that part of the value. So the result
 * equals the value exactly if the value fits, and a diff of the two shows only what does not fit.
 */
export function settled(pattern: unknown, value: unknown): unknown {
  if (typeof pattern === 'string' && isPattern(pattern)) {
    return fitsText(pattern, value) ? value : pattern
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value)) return pattern.filter(element => element !== '…')
    const isOpen = pattern.at(-1) === '…'
    const named = isOpen ? pattern.slice(0, -1) : pattern
    const elements = named.map((element, i) => settled(element, value[i]))
    return isOpen ? [...elements, ...value.slice(named.length)] : elements
  }
  if (isObject(pattern)) {
    const { '…': open, ...named } = pattern
    const fields = Object.entries(named).map(([name, field]) => [
      name,
      settled(field, isObject(value) ? value[name] : undefined),
    ])
    const more = open === undefined || !isObject(value) ? {} : value
    return { ...more, ...Object.fromEntries(fields) }
  }
  return pattern
}
