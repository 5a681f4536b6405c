import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { FlowStore } from './authoring.ts'
import type { ChecklistReader } from './checklists.ts'
import type { LoggedEvent } from './events.ts'
import type { HistoryReader } from './flows.ts'

/** A person of an organisation. */
export interface NamedPerson {
  orgRef: OrganisationRef
  /** `org_…`. */
  orgId: string
  /** As `personOf` names them. */
  person: string
}

/** What is stored about a person, section by section, with the names of the API. */
export interface StoredSection {
  section: string
  /** Null for a page of the store that held nothing of theirs, so that others get their turn. */
  rows: Iterable<object | null>
}

/** What an erasure is working on, and how much of that is done. */
export interface ErasureProgress {
  at: string
  done: number
}

/** What is kept about an erasure. It does not say whose it was, except to somebody with the key and the name. */
export interface ErasureReceipt {
  /** `erasure_…`. */
  id: string
  organisation: string
  /** The person's hash, under the key of `erasures.jsonl`. */
  person: string
  askedAt: number
  /** Null while a file may still contain something of theirs. */
  finishedAt: number | null
  /** How many entries were erased, by kind. */
  erased: Readonly<Record<string, number>>
}

/** The result of an erasure. */
export interface Erased {
  receipt: ErasureReceipt
  /**
   * What may still contain bytes of theirs, though nobody can read them: unused parts of a large database,
   * until it is rewritten; or its log, because somebody is reading an earlier state. Null if nothing does.
   */
  unfinished: 'unused_parts' | 'log' | null
  /** Copies of the database in the data directory that may contain them until they are deleted. */
  copies: readonly string[]
}

/** The subject is the receipt's id, which only storage knows, so that a line of the audit log names nobody. */
export type ErasureAudit = Omit<AuditEntry, 'subject'>

/** What the history of a person needs from storage. */
export interface MetStores {
  catalogue(): Catalogue
  people: HistoryReader
  checklists: Pick<ChecklistReader, 'progress'>
}

/** All flows of an organisation. */
export type AllFlows = Pick<FlowStore, 'read'>

/** Events of a person, latest arrival first, as far as one search reaches. */
export interface PersonsEvents {
  events: readonly LoggedEvent[]
  /** Where to continue; null if there is nothing older. */
  next: string | null
}

/** What the data of people needs from storage. */
export interface PeopleStore {
  /**
   * The latest events of a person. The ledger is not sorted by person, so one search covers a limited part
   * of it, and may find fewer than asked for, or none.
   *
   * @param before only events before this cursor; null for the latest
   * @param most how many events at most
   */
  events(person: NamedPerson, before: string | null, most: number): Promise<PersonsEvents>
  /** Everything that contains a person's id. Rows are read as they are asked for. */
  stored(person: NamedPerson): Promise<Iterable<StoredSection>>
  /**
   * Erases a person, and stops accepting reports about them. Once begun, an erasure is finished, if need be
   * after the next start.
   *
   * @param options.compact whether a large database is rewritten at once, for which writes wait
   * @throws AppError `rewriting_under_way`
   */
  erase(
    person: NamedPerson,
    options: { compact: boolean },
    audit: ErasureAudit,
    tell: (progress: ErasureProgress) => void,
  ): Promise<Erased>
  /** Accepts a person's reports again. False if they had not been erased. */
  allow(person: NamedPerson, audit: ErasureAudit): Promise<boolean>
}
