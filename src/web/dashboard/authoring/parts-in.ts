const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** What a flow consists of: 3 steps, 2 items. */
export const partsIn = (steps: number, items: number): string =>
  [steps > 0 && counted(steps, 'step'), items > 0 && counted(items, 'item')]
    .filter(Boolean)
    .join(', ') || 'no steps'
