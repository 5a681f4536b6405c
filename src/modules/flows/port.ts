import type { OrganisationRef } from '../../core/reference.ts'
import type { FlowStore } from '../authoring/index.ts'

/** What explaining why a flow is shown asks of storage. */
export interface ExplainStore extends Pick<FlowStore, 'read'> {
  /** Whether the organisation has a current snippet key. */
  hasSnippetKey(orgRef: OrganisationRef): Promise<boolean>
}
