import type { PersonIds } from '../../core/event/stored-event.ts'
import type { FlowRef, ItemRef, OrganisationRef } from '../../core/reference.ts'

/** What checklists need from storage. */
export interface ChecklistStores {
  ledger: ProgressLedger
  checklists: Pick<ChecklistReader, 'progress'>
}

/** Like `EventLedger`, for reports that arrive outside of a batch of events. */
export interface ProgressLedger {
  /** Records a completion of a flow. */
  complete(
    report: PersonIds & {
      orgRef: OrganisationRef
      flowRef: FlowRef
      runId: string | null
      completedAt: number
      receivedAt: number
    },
  ): Promise<{ completedAt: number; alreadyCompleted: boolean }>
  /** Ticks or unticks items. Other items stay as they are. */
  tick(
    report: PersonIds & {
      orgRef: OrganisationRef
      flowRef: FlowRef
      /** The run that ticks belong to, by its id or by the session; neither if none is named. */
      runId?: string | null
      sessionId?: string | null
      items: readonly { itemRef: ItemRef; completed: boolean }[]
      receivedAt: number
    },
  ): Promise<void>
}

export interface ChecklistReader {
  /** When each ticked item was ticked, and when the person first completed the flow. */
  progress(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    person: PersonIds,
  ): Promise<{ ticked: ReadonlyMap<ItemRef, number>; completedAt: number | null }>
  /** A text that changes whenever `progress` changes for a person, in any flow. Reads at most one row. */
  version(orgRef: OrganisationRef, person: PersonIds): Promise<string>
}
