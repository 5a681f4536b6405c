/** A tick (or its taking back) of one item by one person; epoch milliseconds. */
export interface Tick {
  itemId: number
  at: number
  ticked: boolean
}

/** Where one item stands for one person: ticked since when, or null. */
export type ItemStates = Map<number, number>

/** Ticks in the order in which they count: by time, and a taking back after a tick of the same time. */
function inOrder(ticks: readonly Tick[]): Tick[] {
  return [...ticks].sort((a, b) => a.at - b.at || Number(b.ticked) - Number(a.ticked))
}

/**
 * Which items stand ticked after all ticks, and since when: per item the last write counts, and
 * ticking a ticked item again changes nothing.
 */
export function itemStates(ticks: readonly Tick[]): ItemStates {
  const states: ItemStates = new Map()
  for (const { itemId, at, ticked } of inOrder(ticks)) {
    if (!ticked) states.delete(itemId)
    else if (!states.has(itemId)) states.set(itemId, at)
  }
  return states
}

/**
 * The first moment at which every item stood ticked, or null.
 *
 * @param itemsAt the items of the version that was published at a moment
 */
export function checklistCompletedAt(
  ticks: readonly Tick[],
  itemsAt: (at: number) => readonly number[],
): number | null {
  const ticked = new Set<number>()
  for (const tick of inOrder(ticks)) {
    if (!tick.ticked) {
      ticked.delete(tick.itemId)
      continue
    }
    ticked.add(tick.itemId)
    const items = itemsAt(tick.at)
    if (items.length > 0 && items.every(item => ticked.has(item))) return tick.at
  }
  return null
}
