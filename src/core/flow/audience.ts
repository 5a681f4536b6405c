import { quoted, shown } from '../text/wording.ts'
import { parseTime } from '../time/rfc3339.ts'
import type { AudienceRule, Targeting } from './flow.ts'

/** What is known of a person, as the page or a back end said it: a JSON object. */
export type Traits = Readonly<Record<string, unknown>>

/** Whether something holds, and a sentence for whoever wonders why. */
export interface Reason {
  holds: boolean
  why: string
}

/**
 * Whether a person belongs to an audience, rule by rule. An audience without rules is everyone,
 * whether all or any of them must hold.
 */
export function inAudience(
  { match, rules }: Targeting['audience'],
  traits: Traits,
): { holds: boolean; rules: Reason[] } {
  const reasons = rules.map(rule => ruleHolds(rule, traits))
  const isIn = ({ holds }: Reason) => holds
  const holds = match === 'all' || reasons.length === 0 ? reasons.every(isIn) : reasons.some(isIn)
  return { holds, rules: reasons }
}

/**
 * Whether a rule holds for a person:
 *
 * - `eq`, `neq`: the attribute is the value; `neq` is always the opposite of `eq`
 * - `in`, `nin`: the attribute is one of the values; `nin` is always the opposite of `in`
 * - `gt`, `gte`, `lt`, `lte`: the attribute comes after or before the value
 * - `contains`: a text has the value in it, a list has it as an element
 * - `exists`: the attribute is there; with the value false, it is not there
 *
 * An attribute that is absent or null is not there: of it only `neq`, `nin` and `exists: false`
 * hold. A dotted name reaches into objects (`company.plan`) unless a field has the whole name.
 * Values are compared only with their own kind: the number 10 is not the text "10". Texts that are
 * both times (RFC 3339) are compared as moments, others letter by letter: case counts, and the
 * order is that of UTF-16 units. Lists and objects equal nothing.
 */
export function ruleHolds(rule: AudienceRule, traits: Traits): Reason {
  const { attribute, op, value } = rule
  const actual = attributeOf(traits, attribute)
  if (actual === undefined || actual === null) return absent(rule, traits)
  const is = `${shown(attribute)} is ${told(actual)}`
  switch (op) {
    case 'exists': {
      const holds = value !== false
      return { holds, why: holds ? is : `${is}, and must not be there` }
    }
    case 'eq':
    case 'neq': {
      const isEqual = same(actual, value)
      return {
        holds: isEqual === (op === 'eq'),
        why: isEqual
          ? `${is}${op === 'neq' ? mustNotBe : ''}`
          : `${is}, not ${told(value)}${otherKind(actual, value)}`,
      }
    }
    case 'in':
    case 'nin': {
      const values = Array.isArray(value) ? value : [value]
      const isOne = values.some(one => same(actual, one))
      const hint = Array.isArray(actual) ? ' (of a list, ask what it contains)' : ''
      return {
        holds: isOne === (op === 'in'),
        why: `${is}, ${isOne ? 'one' : 'none'} of ${told(values)}${isOne && op === 'nin' ? mustNotBe : hint}`,
      }
    }
    case 'contains': {
      const holds = contains(actual, value)
      return {
        holds,
        why: `${is}, which ${holds ? 'contains' : 'does not contain'} ${told(value)}`,
      }
    }
    default: {
      const order = compared(actual, value)
      if (order === null) {
        return { holds: false, why: `${is}, which cannot be compared with ${told(value)}` }
      }
      const { holds, words } = orders[op]
      const isSo = holds(order)
      return { holds: isSo, why: `${is}, ${isSo ? '' : 'not '}${words} ${told(value)}` }
    }
  }
}

const mustNotBe = ', and must not be'

const orders = {
  gt: { holds: (order: number) => order > 0, words: 'greater than' },
  gte: { holds: (order: number) => order >= 0, words: 'at least' },
  lt: { holds: (order: number) => order < 0, words: 'less than' },
  lte: { holds: (order: number) => order <= 0, words: 'at most' },
}

const isObject = (value: unknown): value is Traits =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A trait by its name, or by the path to it: `company.plan`. */
export function attributeOf(traits: Traits, name: string): unknown {
  if (Object.hasOwn(traits, name)) return traits[name]
  const dot = name.indexOf('.')
  if (dot < 0 || !Object.hasOwn(traits, name.slice(0, dot))) return undefined
  const inner = traits[name.slice(0, dot)]
  return isObject(inner) ? attributeOf(inner, name.slice(dot + 1)) : undefined
}

/** Less than 0, 0 or more, as sorting has it; null for what has no order. */
export function compared(a: unknown, b: unknown): number | null {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a !== 'string' || typeof b !== 'string') return null
  const [timeA, timeB] = [parseTime(a), parseTime(b)]
  if (timeA !== null && timeB !== null) return timeA - timeB
  return a < b ? -1 : Number(a > b)
}

function same(a: unknown, b: unknown): boolean {
  return typeof a === 'boolean' ? a === b : compared(a, b) === 0
}

function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole)) return whole.some(element => same(element, part))
  return typeof whole === 'string' && typeof part === 'string' && whole.includes(part)
}

const mostTold = 5

/** A value in a sentence. */
function told(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (isObject(value)) return 'an object'
  if (!Array.isArray(value)) return String(value)
  const some = value.slice(0, mostTold).map(one => (Array.isArray(one) ? 'a list' : told(one)))
  const more = value.length > some.length ? [`… (${value.length} in all)`] : []
  return `[${[...some, ...more].join(', ')}]`
}

/** Says that "10" is not 10 where a reader would take them for the same. */
function otherKind(a: unknown, b: unknown): string {
  if (typeof a === typeof b || String(a) !== String(b) || Array.isArray(a)) return ''
  return ` (a ${typeof a === 'string' ? 'text' : typeof a} and a ${typeof b === 'string' ? 'text' : typeof b})`
}

function absent({ attribute, op, value }: AudienceRule, traits: Traits): Reason {
  const holds = op === 'neq' || op === 'nin' || (op === 'exists' && value === false)
  const near = Object.keys(traits).find(
    name => name !== attribute && name.toLowerCase() === attribute.toLowerCase(),
  )
  const hints = [
    ...(op === 'exists' && holds ? ['as it must be'] : []),
    ...(holds || op === 'exists' ? [] : [`${op} ${told(value)} is asked`]),
    ...(near === undefined ? [] : [`there is ${shown(near)}: case counts`]),
  ]
  const hint = hints.length === 0 ? '' : ` (${hints.join('; ')})`
  return { holds, why: `there is no ${shown(attribute)}${hint}` }
}
