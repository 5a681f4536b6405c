import type { Flow, FlowDefinition } from '../../../../core/flow/flow.ts'

const owned = (part: { key: string }, position: number) => ({ id: part.key, position })

/** A written flow as a snippet would get it. The keys stand in for the server's ids. */
export const flowOf = (definition: FlowDefinition): Flow => ({
  ...definition,
  id: definition.key,
  version: 1,
  publishedAt: '',
  steps: definition.steps.map((step, at) => ({ ...step, ...owned(step, at) })),
  checklist: definition.checklist && {
    ...definition.checklist,
    items: definition.checklist.items.map((item, at) => ({ ...item, ...owned(item, at) })),
  },
})
