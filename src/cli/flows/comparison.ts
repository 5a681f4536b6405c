import { type FlowDifference, flowDifference } from '../../core/flow/difference.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import type { NamedFile } from './files.ts'
import type { StoredFlow } from './records.ts'

/** What of a stored flow is looked at: its draft, or its newest published version. */
export interface Newest {
  state: 'draft' | 'published'
  definition: FlowDefinition
}

/** A flow of a file beside the stored one of the same key, or a stored one that no file has. */
export interface Comparison {
  key: string
  change: 'new' | 'changed' | 'unchanged' | 'in no file'
  file: string | null
  stored: StoredFlow | null
  /** What of the stored flow it was compared with; null where there is nothing. */
  against: Newest['state'] | null
  difference: FlowDifference | null
}

export interface Scope {
  /** Look at what callers see, not at drafts. */
  published: boolean
  /** Tell of stored flows that no file has, too. */
  all: boolean
}

/** The newest that its author wrote, or what callers see; null where that is nothing. */
export function newestOf(flow: StoredFlow, { published }: Pick<Scope, 'published'>): Newest | null {
  if (!published && flow.draft) return { state: 'draft', definition: flow.draft }
  if (!flow.published || (published && flow.status !== 'published')) return null
  return { state: 'published', definition: flow.published }
}

/** Every flow of the files, in their order, then those that no file has. */
export function compare(
  files: readonly NamedFile[],
  stored: readonly StoredFlow[],
  scope: Scope,
): Comparison[] {
  const byKey = new Map(stored.map(flow => [flow.key, flow]))
  const compared = files.flatMap(({ name, flows }) =>
    flows.map(flow => compareOne(name, flow, byKey.get(flow.key) ?? null, scope)),
  )
  if (!scope.all) return compared
  const inFiles = new Set(compared.map(({ key }) => key))
  const others = stored.filter(({ key, status }) => !inFiles.has(key) && status !== 'archived')
  return [...compared, ...others.flatMap(flow => inNoFile(flow, scope))]
}

function compareOne(
  file: string,
  flow: FlowDefinition,
  stored: StoredFlow | null,
  scope: Scope,
): Comparison {
  const { key } = flow
  const newest = stored && newestOf(stored, scope)
  if (!newest) return { key, change: 'new', file, stored, against: null, difference: null }
  const { state: against, definition } = newest
  const names = [`${key} (${against})`, file] as const
  const baseline = {
    definition,
    stepKeys: new Set(stored.publishedSteps),
    itemKeys: new Set(stored.publishedItems),
  }
  const difference = flowDifference(baseline, flow, names)
  const change = difference.diff === '' ? 'unchanged' : 'changed'
  return { key, change, file, stored, against, difference }
}

function inNoFile(stored: StoredFlow, scope: Scope): Comparison[] {
  const newest = newestOf(stored, scope)
  if (!newest) return []
  const { key } = stored
  const against = newest.state
  return [{ key, change: 'in no file', file: null, stored, against, difference: null }]
}
