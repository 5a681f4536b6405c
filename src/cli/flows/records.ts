import type { Static } from '@sinclair/typebox'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import type { AuthoredFlow, PushedFlows } from '../../modules/authoring/schema.ts'
import type { Manager } from '../manage.ts'

/** A flow with what its author wrote. */
export interface StoredFlow extends AuthoredFlow {
  draft: FlowDefinition | null
  published: FlowDefinition | null
  publishedSteps: readonly string[]
  publishedItems: readonly string[]
}

/** The result for one flow that was pushed. */
export type Pushed = Static<typeof PushedFlows>['flows'][number]

/** All flows with their definitions. */
export const storedFlows = async ({ ask }: Manager): Promise<StoredFlow[]> =>
  (await ask<{ flows: StoredFlow[] }>('GET /flows?definitions=1')).flows

/** The part of a stored flow that is looked at: its draft, or its newest published version. */
export interface Newest {
  state: 'draft' | 'published'
  definition: FlowDefinition
}

/** The newest definition that its author wrote, or the one that callers see; null if there is none. */
export function newestOf(flow: StoredFlow, { published = false }): Newest | null {
  if (!published && flow.draft) return { state: 'draft', definition: flow.draft }
  if (!flow.published || (published && flow.status !== 'published')) return null
  return { state: 'published', definition: flow.published }
}

/** The command to copy that publishes a flow. Keys of earlier releases can begin like an option. */
export const publishCommand = (key: string, org: string) =>
  key.startsWith('-') ? `cairn flows publish${org} -- ${key}` : `cairn flows publish ${key}${org}`

/** What to do next after a change of drafts alone. @param keys with a space between several */
export const nextForDrafts = (keys: string, org: string) => [
  `Next: "${publishCommand(keys, org)}" shows it to visitors.`,
  `If you push from files, copy the change from "cairn flows pull ${keys}${org}", or the next push undoes it.`,
]

/** A status that can be put after "it is". */
export const statusInWords = (status: StoredFlow['status']) =>
  status === 'draft' ? 'a draft' : status
