/** What rows name in braces: `{key}`, `{tour}`, `{2 days ago}`, `{129 x}`. */

const unitMs: Record<string, number> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
}

// Rows name days, so the tests have to begin early enough in a day to end on the same one.
const leftOfDayMs = 86_400_000 - (Date.now() % 86_400_000)
if (leftOfDayMs < 20_000) await Bun.sleep(leftOfDayMs)

/** The time that others are relative to, so that a time is the same in every row of a sequence. */
let startedAt = Date.now()

/** Call at the start of a sequence: the server corrects a clock that is a minute off, as on a busy machine. */
export function beginSequence(): void {
  startedAt = Date.now()
}

function timeNamed(name: string): string | null {
  const words = /^(?:(\d+) (\w+?)s? ago|in (\d+) (\w+?)s?|now)( in ms| as a date)?$/.exec(name)
  if (!words) return null
  const [, ago, agoUnit = '', ahead, aheadUnit = '', form] = words
  const unit = unitMs[agoUnit || aheadUnit || 'second']
  if (unit === undefined) return null
  const at = startedAt + (Number(ahead ?? 0) - Number(ago ?? 0)) * unit
  if (form === ' in ms') return `${at}`
  return form === ' as a date'
    ? new Date(at).toISOString().slice(0, 10)
    : new Date(at).toISOString()
}

/** `{129 x}` is 129 times the letter, `{51 events}` the named thing 51 times with commas between. */
function repetition(name: string, names: ReadonlyMap<string, string>): string | null {
  const [, times, thing = ''] = /^(\d+) (\S+?)$/.exec(name) ?? []
  if (times === undefined) return null
  if (thing === 'keys') {
    return `{${Array.from({ length: Number(times) }, (_, i) => `key${i}: ${i}`).join(', ')}}`
  }
  const named = names.get(thing.replace(/s$/, ''))
  if (named !== undefined) return Array(Number(times)).fill(named).join(', ')
  return thing.length === 1 ? thing.repeat(Number(times)) : null
}

/**
 * A text with every name in braces replaced by what it stands for.
 *
 * @param ofRow what only the row itself knows: `person`, a name that nobody else has, and `last …`
 */
export function fill(
  text: string,
  names: ReadonlyMap<string, string>,
  ofRow: (name: string) => string | undefined = () => undefined,
): string {
  return text.replaceAll(/\{([^{}:,"\\]+)\}/g, (_, name: string) => {
    const found = ofRow(name) ?? names.get(name) ?? timeNamed(name) ?? repetition(name, names)
    if (found === null) throw new Error(`There is nothing called {${name}}`)
    return found
  })
}
