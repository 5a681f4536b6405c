interface Lists<Item> {
  checklist: { items: readonly Item[] } | null
  launcher?: { items: readonly Item[] } | undefined
}

/** The items of a flow's checklist or launcher. No flow has both. */
export const itemsOf = <Item>({ checklist, launcher }: Lists<Item>): readonly Item[] =>
  (launcher ?? checklist)?.items ?? []

/** Where those items are, as a JSON pointer. */
export const itemsAt = ({ launcher }: Pick<Lists<unknown>, 'launcher'>) =>
  launcher ? '/launcher/items' : '/checklist/items'

/**
 * The parts that a run of a flow goes through, which its events name by `stepId`: its steps, or the items of
 * its launcher, of which a person chooses one. (What is ticked in a checklist belongs to the person instead.)
 */
export const runPartsOf = <Step, Item>({
  steps,
  launcher,
}: {
  steps: readonly Step[]
  launcher?: { items: readonly Item[] } | undefined
}): readonly (Step | Item)[] => [...steps, ...(launcher?.items ?? [])]
