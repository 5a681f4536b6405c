import { holdsOther, withMarks } from '../../core/number/exact-numbers.ts'
import { propertyBounds } from './model.ts'

/** What an event says beside what we ask: how much of it is kept, and whether as it was sent. */

type Properties = Readonly<Record<string, unknown>>

/** Why properties are not kept. */
export type PropertiesFault = 'too many keys' | 'too deep' | 'too large' | 'beyond 2^53' | 'inexact'

/** From here on a number is written with an exponent, by which its sender has rounded it already. */
const exponentFrom = 1e21

/**
 * Whether a number can be what its sender had: 1e999 would become null, and who sends a whole number
 * beyond 2^53 has most often rounded it without knowing.
 */
function isPlausible(value: number): boolean {
  if (!Number.isInteger(value)) return Number.isFinite(value)
  return Number.isSafeInteger(value) || Math.abs(value) >= exponentFrom
}

/** A look through the values of one event, which ends as soon as they are surely too many. */
class Look {
  hasNumbers = false
  /** Bytes of JSON that may still come. */
  private left = propertyBounds.bytes

  /** What is wrong inside a value that may be `depth` levels deep. */
  faultIn(value: unknown, depth: number): PropertiesFault | null {
    // With the comma or the brace behind it; escapes and other scripts only make it longer.
    this.left -= typeof value === 'string' ? value.length + 3 : 2
    if (this.left < 0) return 'too large'
    if (typeof value === 'number') {
      this.hasNumbers = true
      return isPlausible(value) ? null : 'beyond 2^53'
    }
    if (typeof value !== 'object' || value === null) return null
    if (depth === 0) return 'too deep'
    for (const part of Array.isArray(value) ? value : Object.values(value)) {
      const fault = this.faultIn(part, depth - 1)
      if (fault) return fault
    }
    return null
  }
}

/** No text of a caller's begins so. */
const mark = crypto.randomUUID().slice(0, 8)

/** The text of a batch, by which the numbers in it are held against what was read of them. */
export class SentBatch {
  private marked: readonly { properties: unknown }[] | null = null

  constructor(private readonly text: string) {}

  /** Whether no number in the properties of the batch's event at `index` would change. */
  keepsNumbersOf(index: number): boolean {
    this.marked ??= this.read()
    return !holdsOther(this.marked[index]?.properties, mark)
  }

  private read(): readonly { properties: unknown }[] {
    const marked = withMarks(this.text, mark)
    return marked === this.text ? [] : JSON.parse(marked).events
  }
}

/** The JSON of an event's properties, or why they are not kept. */
export interface PropertiesVerdict {
  text: string | null
  fault: PropertiesFault | null
}

const no = (fault: PropertiesFault): PropertiesVerdict => ({ text: null, fault })

/** @param index of the event in the batch */
export function propertiesOf(
  properties: Properties,
  index: number,
  sent: SentBatch,
): PropertiesVerdict {
  const { keys, depth, bytes } = propertyBounds
  if (Object.keys(properties).length > keys) return no('too many keys')
  const look = new Look()
  const fault = look.faultIn(properties, depth)
  if (fault) return no(fault)
  const text = JSON.stringify(properties)
  // A UTF-16 unit takes at most three bytes: most texts need not be measured.
  if (text.length * 3 > bytes && Buffer.byteLength(text) > bytes) return no('too large')
  if (look.hasNumbers && !sent.keepsNumbersOf(index)) return no('inexact')
  return { text, fault: null }
}
