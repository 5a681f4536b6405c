import type { Flow, FlowDefinition } from './flow.ts'

/** What a flow only gets when it is stored. A flow that is only looked at has its keys in place of ids. */
interface Given {
  version: number
  publishedAt: string
}

/** A flow as a page would get it if it were published, with fields in the order of the contract. */
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
