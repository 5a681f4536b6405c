/** One person ticked an item, or took the tick back; epoch milliseconds. */
export interface Tick {
  /** As `personOf` names them. */
  person: string
  itemId: number
  at: number
  ticked: boolean
  /** The run that it names, as `runKeyOf` makes it; empty if it names none. */
  runKey: string
}

/** Since when each item has been ticked; items that are not ticked are absent. */
export type ItemStates = ReadonlyMap<number, number>

/** A moment at which a tick completed a list that was not complete before. */
export interface ChecklistPass {
  at: number
  /** The ticks that completed it: those of items that were not ticked before. */
  ticks: readonly Tick[]
}

/** The history of a checklist, from the ticks of people whose ticks count together. */
export interface ChecklistHistory {
  /** Which items are ticked after all ticks, and since when. */
  states: ItemStates
  /** Which items were ever ticked. */
  ever: ReadonlySet<number>
  /** Ascending. */
  passes: readonly ChecklistPass[]
}

/**
 * Goes through ticks in order. Everything at the same moment is one step, and only the state after it
 * counts. If one person ticks an item and takes the tick back at the same moment, it is not ticked. An item
 * is ticked as long as it is ticked for any of the people.
 *
 * A list is passed when a tick leaves every item ticked. It can be passed again after it was incomplete,
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
  /** The people for whom each item is ticked. */
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

/** Ticks grouped by moment, ascending; within a moment, ticks that were taken back come last. */
function stepsOf(ticks: readonly Tick[]): Tick[][] {
  const ordered = [...ticks].sort((a, b) => a.at - b.at || Number(b.ticked) - Number(a.ticked))
  return [...Map.groupBy(ordered, ({ at }) => at).values()]
}
