import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { FlowStore } from '../authoring/index.ts'
import type { ChecklistReader } from '../checklists/index.ts'
import type { LoggedEvent } from '../events/index.ts'
import type { HistoryReader } from '../flows/index.ts'

/** A person of an organisation. */
export interface NamedPerson {
  orgRef: OrganisationRef
  /** `org_…`. */
  orgId: string
  /** As `personOf` names them. */
  person: string
}

/** What is stored of a person, section by section, as the API names it. */
export interface StoredSection {
  section: string
  /** Null where a page of the store held nothing of theirs: a moment for others to get their turn. */
  rows: Iterable<object | null>
}

/** What an erasure is busy with, and how much of that is done. */
export interface ErasureProgress {
  at: string
  done: number
}

/** What is kept of an erasure: nothing that tells whose it was, but for who has the key and the name. */
export interface ErasureReceipt {
  /** `erasure_…`. */
  id: string
  organisation: string
  /** The person's hash, under the key of `erasures.jsonl`. */
  person: string
  askedAt: number
  /** Null while a file may still hold something of them. */
  finishedAt: number | null
  /** How many of what, by kind. */
  erased: Readonly<Record<string, number>>
}

/** What an erasure came to. */
export interface Erased {
  receipt: ErasureReceipt
  /**
   * What may still hold bytes of theirs, though nobody can read them: unused parts of a large database,
   * until it is written anew; or its log, which somebody reads as of before. Null where nothing does.
   */
  unfinished: 'unused_parts' | 'log' | null
  /** Copies of the database, as files of the data directory, that may hold them until they are deleted. */
  copies: readonly string[]
}

/** Its subject is the receipt's id, which storage alone knows: a line of the audit log names nobody. */
export type ErasureAudit = Omit<AuditEntry, 'subject'>

/** What a person has met asks of storage. */
export interface MetStores {
  catalogue(): Catalogue
  people: HistoryReader
  checklists: Pick<ChecklistReader, 'progress'>
}

/** All flows of an organisation. */
export type AllFlows = Pick<FlowStore, 'read'>

/** Events of a person, the latest arrival first, as far as one look reaches. */
export interface PersonsEvents {
  events: readonly LoggedEvent[]
  /** Looks on from here; null where there is nothing older. */
  next: string | null
}

/** What people ask of storage. */
export interface PeopleStore {
  /**
   * The latest events of a person. The ledger is not in the order of people, so one look goes through
   * a bounded part of it, and may find fewer than asked for, or none.
   *
   * @param before those that came before this cursor; null for the latest
   * @param most how many
   */
  events(person: NamedPerson, before: string | null, most: number): Promise<PersonsEvents>
  /** Everything that holds a person's id, read as it is asked for. */
  stored(person: NamedPerson): Promise<Iterable<StoredSection>>
  /**
   * Erases a person, and nothing more is taken of them. Once it has begun it is brought to its end,
   * by the next start if need be.
   *
   * @param options.compact whether a large database is written anew at once, for which writes wait
   * @throws AppError `rewriting_under_way`
   */
  erase(
    person: NamedPerson,
    options: { compact: boolean },
    audit: ErasureAudit,
    tell: (progress: ErasureProgress) => void,
  ): Promise<Erased>
  /** Has what a person reports be taken again; whether they had been erased. */
  allow(person: NamedPerson, audit: ErasureAudit): Promise<boolean>
}
