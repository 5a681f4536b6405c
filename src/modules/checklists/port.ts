import type { PersonIds } from '../../core/event/stored-event.ts'
import type { MaybePromise } from '../../core/organisation/catalogue.ts'
import type { FlowRef, ItemRef, OrganisationRef } from '../../core/reference.ts'
/** What checklists ask of storage. */
export interface ChecklistStores {
  ledger: ProgressLedger
  checklists: Pick<ChecklistReader, 'progress'>
}

/** As `EventLedger`, for reports that come alone. */
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
  /** Ticks items, or takes ticks back; items that are not named are not touched. */
  tick(
    report: PersonIds & {
      orgRef: OrganisationRef
      flowRef: FlowRef
      /** The run that ticks belong to, by its id or by the session; neither where none is named. */
      runId?: string | null
      sessionId?: string | null
      items: readonly { itemRef: ItemRef; completed: boolean }[]
      receivedAt: number
    },
  ): Promise<void>
}

export interface ChecklistReader {
  /** Since when each item stands ticked, and when the person first completed the flow. */
  progress(
    orgRef: OrganisationRef,
    flowRef: FlowRef,
    person: PersonIds,
  ): Promise<{ ticked: ReadonlyMap<ItemRef, number>; completedAt: number | null }>
  /**
   * Another text after each change of what `progress` tells of a person, in whatever flow. Costs one row
   * at most.
   */
  version(orgRef: OrganisationRef, person: PersonIds): MaybePromise<string>
}
