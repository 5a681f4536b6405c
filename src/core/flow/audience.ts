import { attributeOf, isObject, type Traits } from '../event/traits.ts'
import { quoted, shown } from '../text/wording.ts'
import { compared, ruleMatches } from './audience-match.ts'
import type { AudienceRule } from './flow.ts'

/** Whether something holds, and a sentence that explains why. */
export interface Reason {
  holds: boolean
  why: string
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
 * An attribute that is absent or null is not there: only `neq`, `nin` and `exists: false` hold for it. A
 * dotted name reaches into objects (`company.plan`) unless a field has the whole name. Values are only
 * compared with values of the same kind: the number 10 is not the text "10". Texts that are both times (RFC
 * 3339) are compared as moments, others letter by letter: case counts, and the order is that of UTF-16
 * units. Lists and objects equal nothing.
 */
export function ruleHolds(rule: AudienceRule, traits: Traits): Reason {
  const actual = attributeOf(traits, rule.attribute)
  if (actual === undefined || actual === null) return absent(rule, traits)
  const holds = ruleMatches(rule, traits)
  return {
    holds,
    why: `${shown(rule.attribute)} is ${inWords(actual)}${relation(rule, actual, holds)}`,
  }
}

/** How an attribute that is present relates to the value, as the rest of a sentence. */
function relation({ op, value }: AudienceRule, actual: unknown, holds: boolean): string {
  switch (op) {
    case 'exists':
      return holds ? '' : ', and must not be there'
    case 'eq':
    case 'neq':
      if (holds === (op === 'neq')) return `, not ${inWords(value)}${otherKind(actual, value)}`
      return op === 'neq' ? mustNotBe : ''
    case 'in':
    case 'nin': {
      const isOne = holds === (op === 'in')
      const hint = Array.isArray(actual) ? ' (of a list, ask what it contains)' : ''
      const values = Array.isArray(value) ? value : [value]
      return `, ${isOne ? 'one' : 'none'} of ${inWords(values)}${isOne && op === 'nin' ? mustNotBe : hint}`
    }
    case 'contains':
      return `, which ${holds ? 'contains' : 'does not contain'} ${inWords(value)}`
    default:
      return compared(actual, value) === null
        ? `, which cannot be compared with ${inWords(value)}`
        : `, ${holds ? '' : 'not '}${orders[op]} ${inWords(value)}`
  }
}

const mustNotBe = ', and must not be'

const orders = { gt: 'greater than', gte: 'at least', lt: 'less than', lte: 'at most' }

const maxValuesShown = 5

/** A value in a sentence. */
function inWords(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (isObject(value)) return 'an object'
  if (!Array.isArray(value)) return String(value)
  const some = value
    .slice(0, maxValuesShown)
    .map(one => (Array.isArray(one) ? 'a list' : inWords(one)))
  const more = value.length > some.length ? [`… (${value.length} in all)`] : []
  return `[${[...some, ...more].join(', ')}]`
}

/** Points out that "10" is not 10, if a reader would take them for the same. */
function otherKind(a: unknown, b: unknown): string {
  if (typeof a === typeof b || String(a) !== String(b) || Array.isArray(a)) return ''
  return ` (a ${typeof a === 'string' ? 'text' : typeof a} and a ${typeof b === 'string' ? 'text' : typeof b})`
}

function absent(rule: AudienceRule, traits: Traits): Reason {
  const { attribute, op, value } = rule
  const holds = ruleMatches(rule, traits)
  const inLowerCase = attribute.toLowerCase()
  const near = Object.keys(traits).find(
    name =>
      name.length === attribute.length && name !== attribute && name.toLowerCase() === inLowerCase,
  )
  const hints = [
    ...(op === 'exists' && holds ? ['as it must be'] : []),
    ...(holds || op === 'exists' ? [] : [`${op} ${inWords(value)} is required`]),
    ...(near === undefined ? [] : [`there is ${shown(near)}: case counts`]),
  ]
  const hint = hints.length === 0 ? '' : ` (${hints.join('; ')})`
  return { holds, why: `there is no ${shown(attribute)}${hint}` }
}
