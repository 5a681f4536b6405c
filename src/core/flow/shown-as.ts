import type { FlowDefinition } from './flow.ts'

/** The parts of a flow that decide what pages show of it, as its author wrote it or as the API returns it. */
export interface FlowParts {
  kind: FlowDefinition['kind']
  steps: readonly unknown[]
  checklist: { items: readonly unknown[] } | null
}

/**
 * What pages show of a flow: its steps, which interrupt a person, its items, which wait beside the page, or
 * its launcher, which is always there. If it has both steps and items, its kind decides.
 */
export function shownAs({ kind, steps, checklist }: FlowParts): 'steps' | 'checklist' | 'launcher' {
  if (kind === 'launcher') return kind
  const isList = checklist?.items.length && (kind === 'checklist' || steps.length === 0)
  return isList ? 'checklist' : 'steps'
}
