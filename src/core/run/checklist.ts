/** A tick (or its taking back) of one item by one person; epoch milliseconds. */
export interface Tick {
  /** As `personOf` names them. */
  person: string
  itemId: number
  at: number
  ticked: boolean
  /** The run that it names, as `runKeyOf` makes it; empty where it names none. */
  runKey: string
}

/** Where one item stands: ticked since when, or absent. */
export type ItemStates = ReadonlyMap<number, number>

/** A moment at which a tick made a list whole that was not whole before. */
export interface ChecklistPass {
  at: number
  /** The ticks that did it: those of items that did not stand ticked before. */
  ticks: readonly Tick[]
}

/** What the ticks of people that count together say of a checklist. */
export interface ChecklistHistory {
  /** Which items stand ticked after all ticks, and since when. */
  states: ItemStates
  /** Which items were ever ticked. */
  ever: ReadonlySet<number>
  /** Ascending. */
  passes: readonly ChecklistPass[]
}

/**
 * Goes through ticks in the order in which they count. What happens in one moment is one step, and
 * only the state after it counts; of a tick and a taking back by one person, the taking back. An item
 * stands ticked while it does for any of the people.
 *
 * A list is passed when a tick leaves every item ticked. It can be passed again once it was not whole:
 * because a tick was taken back, or because a newer version has an item that was not ticked.
 *
 * @param ticks in any order
 * @param itemsAt the items of the version that was published at a moment
 */
export function checklistHistory(
  ticks: readonly Tick[],
  itemsAt: (at: number) => readonly number[],
): ChecklistHistory {
  const states = new Map<number, number>()
  const ever = new Set<number>()
  const passes: ChecklistPass[] = []
  /** By item, for whom it stands ticked. */
  const standing = new Map<number, Set<string>>()
  let isOpen = true
  for (const step of stepsOf(ticks)) {
    const { at } = step[0]!
    const items = itemsAt(at)
    if (!items.every(item => states.has(item))) isOpen = true
    for (const { itemId, person, ticked } of step) {
      const people = standing.get(itemId) ?? new Set()
      standing.set(itemId, people)
      if (ticked) people.add(person)
      else people.delete(person)
      if (ticked) ever.add(itemId)
    }
    const made = step.filter(
      ({ itemId, person, ticked }) =>
        ticked && !states.has(itemId) && standing.get(itemId)!.has(person),
    )
    for (const { itemId } of step) {
      if (standing.get(itemId)!.size === 0) states.delete(itemId)
      else if (!states.has(itemId)) states.set(itemId, at)
    }
    if (!items.every(item => states.has(item))) isOpen = true
    else if (isOpen && items.length > 0 && made.length > 0) {
      passes.push({ at, ticks: made })
      isOpen = false
    }
  }
  return { states, ever, passes }
}

/** Ticks by moment, ascending, and within one the takings back behind. */
function stepsOf(ticks: readonly Tick[]): Tick[][] {
  const ordered = [...ticks].sort((a, b) => a.at - b.at || Number(b.ticked) - Number(a.ticked))
  return [...Map.groupBy(ordered, ({ at }) => at).values()]
}
