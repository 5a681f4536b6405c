import type { CausedAt } from '../../core/event/caused.ts'
import type { PersonIds } from '../../core/event/event.ts'
import type { FlowHistory } from '../../core/flow/decision.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { FlowRef, OrganisationRef } from '../../core/reference.ts'
import type { FlowStore } from './authoring.ts'
import type { SeenAtGate } from './gate.ts'

/** What explaining why a flow is shown needs from storage. */
export interface ExplainStore extends Pick<FlowStore, 'read'> {
  /** Whether the organisation has a current snippet key. */
  hasSnippetKey(orgRef: OrganisationRef): Promise<boolean>
}

/** What serving flows to pages needs from storage. */
export interface PublishedFlowStores {
  catalogue(): Catalogue
  people: HistoryReader
  presence: Pick<SeenAtGate, 'mark'>
}

export interface HistoryReader {
  /**
   * What a person has done with flows. Flows of which they have no run are left out. If there are very many
   * runs of one flow, only the latest count.
   */
  histories(
    orgRef: OrganisationRef,
    flowRefs: readonly FlowRef[],
    person: PersonIds,
  ): Promise<ReadonlyMap<FlowRef, FlowHistory>>
  /** When a person caused the custom events that published flows wait for, by name, latest first. */
  caused(
    orgRef: OrganisationRef,
    person: PersonIds,
  ): Promise<ReadonlyMap<string, readonly CausedAt[]>>
}
