/** A flow as its author writes it, with every default filled in. */
export type Written = Readonly<Record<string, unknown>>

export type Side = 'mine' | 'theirs'

/** One thing that is merged as a whole: a field, a step, an item, or the order of a list. */
export interface Unit {
  /** Such as `field:name`, `step:hello`, `text:de steps hello`, `checklist:order`, `item:invite`, `order:step`. */
  id: string
  kind: 'field' | 'step' | 'checklist' | 'item' | 'text' | 'order'
  /** The name or key. */
  name: string
  mine: unknown
  theirs: unknown
}

export interface Merged {
  flow: Written
  /** For each unit in which the two flows differ, the side that it comes from. */
  sides: ReadonlyMap<string, Side>
  /** What only they changed, and what was therefore taken over. */
  taken: readonly Unit[]
  /** What both changed in different ways: as chosen, else as mine. */
  conflicts: readonly Unit[]
}

type Keyed = { key: string }

/** The same text for equal values, whatever the order of their fields. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? ''

const isEqual = (a: unknown, b: unknown) => canonical(a) === canonical(b)

const listOf = (value: unknown) => (Array.isArray(value) ? (value as Keyed[]) : [])
const fieldsOf = (value: unknown) => (value ?? {}) as Written

/** The texts in other languages, split by language and by part of the flow. */
function textsOf(texts: unknown): Map<string, unknown> {
  const parts = new Map<string, unknown>()
  for (const [tag, told] of Object.entries(fieldsOf(texts))) {
    for (const [name, value] of Object.entries(fieldsOf(told))) {
      if (name !== 'steps' && name !== 'items') parts.set(`${tag} ${name}`, value)
      else
        for (const [key, part] of Object.entries(fieldsOf(value))) {
          parts.set(`${tag} ${name} ${key}`, part)
        }
    }
    // A language without any text yet counts as well.
    parts.set(tag, {})
  }
  return parts
}

/** Puts what `textsOf` has split together again. */
function withTexts(parts: ReadonlyMap<string, unknown>): Written {
  const texts: Record<string, Record<string, unknown>> = {}
  for (const [id, value] of parts) {
    const [tag = '', name, key] = id.split(' ')
    texts[tag] ??= {}
    const told = texts[tag]
    if (name !== undefined && key === undefined) told[name] = value
    else if (name !== undefined) told[name] = { ...fieldsOf(told[name]), [key!]: value }
  }
  return texts
}

/** Splits a flow into parts that can be merged independently. */
function partsOf(flow: Written) {
  const { steps, checklist, texts, ...fields } = flow
  const { items, ...ofChecklist } = fieldsOf(checklist)
  const byKey = (list: unknown) => new Map(listOf(list).map(one => [one.key, one as unknown]))
  return {
    field: new Map(Object.entries(fields)),
    step: byKey(steps),
    checklist: new Map(Object.entries(ofChecklist)),
    item: byKey(items),
    text: textsOf(texts),
  }
}

const keysOf = (map: ReadonlyMap<string, unknown>) => [...map.keys()]

const among = (keys: readonly string[], others: readonly string[]) =>
  keys.filter(key => others.includes(key))

/** The keys of `first` in its order; each further key of `second` goes behind the key before it there. */
function woven(first: readonly string[], second: readonly string[]): string[] {
  const order = [...first]
  for (const [i, key] of second.entries()) {
    if (order.includes(key)) continue
    const before = second.slice(0, i).findLast(one => order.includes(one))
    order.splice(before === undefined ? 0 : order.indexOf(before) + 1, 0, key)
  }
  return order
}

/**
 * Merges what two people made of one flow, by step and item. What only one of them changed is taken
 * over; what both changed in different ways is listed, for the author to choose.
 *
 * @param choices by the id of a unit, for what both changed; mine if nothing is chosen
 */
export function mergeFlows(
  base: Written,
  mine: Written,
  theirs: Written,
  choices: Readonly<Record<string, Side>> = {},
): Merged {
  const sides = new Map<string, Side>()
  const taken: Unit[] = []
  const conflicts: Unit[] = []
  const [ofBase, ofMine, ofTheirs] = [partsOf(base), partsOf(mine), partsOf(theirs)]

  const choose = (unit: Unit, before: unknown): Side => {
    let side: Side = 'mine'
    if (isEqual(unit.mine, before)) {
      side = 'theirs'
      taken.push(unit)
    } else if (!isEqual(unit.theirs, before)) {
      side = choices[unit.id] ?? 'mine'
      conflicts.push(unit)
    }
    sides.set(unit.id, side)
    return side
  }

  const mergedMap = (kind: Exclude<Unit['kind'], 'order'>) => {
    const [a, b] = [ofMine[kind], ofTheirs[kind]]
    const all = new Map<string, unknown>()
    for (const name of new Set([...a.keys(), ...b.keys()])) {
      const unit = { id: `${kind}:${name}`, kind, name, mine: a.get(name), theirs: b.get(name) }
      const isSame = isEqual(unit.mine, unit.theirs)
      const value = isSame || choose(unit, ofBase[kind].get(name)) === 'mine' ? 'mine' : 'theirs'
      if (unit[value] !== undefined) all.set(name, unit[value])
    }
    return all
  }

  const ordered = (kind: 'step' | 'item', parts: ReadonlyMap<string, unknown>) => {
    const [before, a, b] = [ofBase, ofMine, ofTheirs].map(of => keysOf(of[kind])) as [
      string[],
      string[],
      string[],
    ]
    const isMoved = (keys: string[]) => !isEqual(among(keys, before), among(before, keys))
    let first: Side = 'theirs'
    if (!isEqual(among(a, b), among(b, a))) {
      // A side that left the order as it was has no say in it.
      const now = { id: `order:${kind}`, kind: 'order' as const, name: kind, mine: a, theirs: b }
      if (isMoved(a) && isMoved(b)) {
        conflicts.push(now)
        first = choices[now.id] ?? 'mine'
      } else if (isMoved(a)) first = 'mine'
      else taken.push(now)
      sides.set(now.id, first)
    }
    const order = first === 'mine' ? woven(a, b) : woven(b, a)
    return order.filter(key => parts.has(key)).map(key => parts.get(key))
  }

  const fields = mergedMap('field')
  const steps = mergedMap('step')
  const ofChecklist = mergedMap('checklist')
  const items = mergedMap('item')
  const isLeft = ofChecklist.size > 0 || items.size > 0
  const ends = [mine, theirs].find(flow => !flow.checklist) ?? mine
  const flow: Record<string, unknown> = Object.fromEntries(fields)
  const texts = mergedMap('text')
  if (texts.size > 0 || ('texts' in mine && 'texts' in theirs)) flow.texts = withTexts(texts)
  if ('steps' in mine || 'steps' in theirs) flow.steps = ordered('step', steps)
  if (isLeft) flow.checklist = { ...Object.fromEntries(ofChecklist), items: ordered('item', items) }
  else if ('checklist' in ends) flow.checklist = ends.checklist
  return { flow, sides, taken, conflicts }
}
