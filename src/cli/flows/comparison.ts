import type { FlowDefinition } from '../../core/flow.ts'
import { type FlowDifference, flowDifference } from '../../core/flow-difference.ts'
import type { FlowRecord, StoredFlow } from '../../storage/flow-reader.ts'
import type { NamedFile } from './files.ts'

/** A flow of a file beside the stored one of the same key. */
export interface Comparison {
  key: string
  /** Null for a flow that no file has. */
  file: string | null
  change: 'new' | 'changed' | 'unchanged' | 'in no file'
  /** What it was compared with; null where there is nothing to compare with. */
  against: 'draft' | 'published' | null
  status: FlowRecord['status'] | null
  version: number | null
  difference: FlowDifference | null
  /** What was compared with, to tell which parts callers have seen. */
  stored: StoredFlow | null
}

export interface Scope {
  /** Compare with what callers see, not with a draft. */
  published: boolean
  /** Tell of stored flows that no file has, too. */
  all: boolean
}

/** What of a stored flow a scope looks at: the newest, or what callers see. */
export function newestOf(
  flow: StoredFlow,
  { published }: Pick<Scope, 'published'>,
): { against: 'draft' | 'published'; definition: FlowDefinition } | null {
  if (!published && flow.draft) return { against: 'draft', definition: flow.draft }
  const isSeen = flow.status === 'published' || !published
  if (!flow.published || !isSeen) return null
  return { against: 'published', definition: flow.published }
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
  const others = stored.filter(
    flow => !inFiles.has(flow.key) && flow.status !== 'archived' && newestOf(flow, scope) !== null,
  )
  return [
    ...compared,
    ...others.map((flow): Comparison => {
      const against = newestOf(flow, scope)!.against
      return { ...namesOf(flow), file: null, change: 'in no file', against, difference: null }
    }),
  ]
}

const namesOf = (flow: StoredFlow) => ({
  key: flow.key,
  status: flow.status,
  version: flow.version,
  stored: flow,
})

function compareOne(
  file: string,
  flow: FlowDefinition,
  stored: StoredFlow | null,
  scope: Scope,
): Comparison {
  const newest = stored && newestOf(stored, scope)
  if (!stored || !newest) {
    const names = stored ? namesOf(stored) : { key: flow.key, status: null, version: null }
    return { stored, ...names, file, change: 'new', against: null, difference: null }
  }
  const { against, definition } = newest
  const names = [`${flow.key} (${against})`, file] as const
  const difference = flowDifference({ ...stored, definition }, flow, names)
  const change = difference.diff === '' ? 'unchanged' : 'changed'
  return { ...namesOf(stored), file, change, against, difference }
}
