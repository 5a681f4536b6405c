import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { PeopleFilter } from '../../core/person/filter.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** A filter of people with a name. It has no ids of people. */
export interface Segment {
  /** `segment_…`. */
  id: string
  name: string
  filter: PeopleFilter
  /** Another one after each change. */
  revision: number
  /** Epoch milliseconds. */
  changedAt: number
}

/** What segments need from storage. */
export interface SegmentStore {
  /** All of an organisation, by name. */
  list(orgRef: OrganisationRef): Promise<readonly Segment[]>
  /** @param max how many segments an organisation can have */
  create(
    orgRef: OrganisationRef,
    segment: Segment,
    max: number,
    audit: AuditEntry,
  ): Promise<'created' | 'name taken' | 'too many'>
  /**
   * Changes the segment of an id.
   *
   * @param revision the one that was read; `changed` if it is another by now
   */
  change(
    orgRef: OrganisationRef,
    segment: Segment,
    revision: number,
    audit: AuditEntry,
  ): Promise<'done' | 'name taken' | 'changed'>
  /** False if the segment is another by now, or gone. */
  remove(
    orgRef: OrganisationRef,
    segment: Pick<Segment, 'id' | 'revision'>,
    audit: AuditEntry,
  ): Promise<boolean>
}
