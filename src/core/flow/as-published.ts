import type { Flow, FlowDefinition } from './flow.ts'

/** What only storing a flow gives it; what is only looked at has its keys in place of ids. */
interface Given {
  version: number
  publishedAt: string
}

/** A flow as a page would get it, had it been published: in the order of the contract's fields. */
export function asPublished(
  { key, name, kind, checklist, steps, ...rest }: FlowDefinition,
  { version, publishedAt }: Given,
): Flow {
  const placed = <P extends { key: string }>(parts: readonly P[]) =>
    parts.map((part, position) => ({ id: part.key, position, ...part }))
  return {
    id: key,
    key,
    name,
    kind,
    version,
    publishedAt,
    ...rest,
    steps: placed(steps),
    checklist: checklist && { ...checklist, items: placed(checklist.items) },
  }
}
