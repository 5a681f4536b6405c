import { type StaticDecode, Type } from '@sinclair/typebox'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { AnswerCondition, FlowCondition, PeopleFilter } from '../../core/person/filter.ts'
import type { ReportedTrait, SeenPage } from '../../core/person/seen.ts'
import type { FlowRef, OrganisationRef, StepRef } from '../../core/reference.ts'
import { Instant, InstantOrNull, OrganisationId, Text } from '../../core/shapes.ts'
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

/** The receipt of an erasure. It names the person only to somebody with the key and the id. */
export const Erasure = Type.Object(
  {
    id: Text('ID of the erasure in the audit log.', 'erasure_4f0c2a9b7d1e3856fa'),
    organisation: OrganisationId,
    person: Text(
      'Hash of the person under the key of `erasures.jsonl`.',
      '5f1d7a84a2c9d3b0e6f71c2d3e4f5a6b',
    ),
    askedAt: Instant('When the erasure was requested.'),
    finishedAt: InstantOrNull("When all files were free of the person's data. Null until then."),
    erased: Type.Record(Type.String(), Type.Integer(), {
      description: 'Number of erased entries, by kind.',
      examples: [{ events: 12, runs: 3 }],
    }),
    unfinished: Type.Unsafe<'unused_parts' | 'log' | null>(
      Type.Union([Type.Literal('unused_parts'), Type.Literal('log'), Type.Null()], {
        description:
          "What may still hold bytes of the person's data, though nobody can read them. `unused_parts`: " +
          'unused parts of a large database, until it is compacted. `log`: the write-ahead log, because ' +
          'a long download is reading it: request the erasure again later. Null if nothing does.',
      }),
    ),
    copies: Type.Array(Type.String(), {
      description:
        "Copies of the database in the server's data directory. They hold the data until they are deleted.",
    }),
  },
  { title: 'Erasure' },
)
export type Erasure = StaticDecode<typeof Erasure>

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

/** A person as stored events show them. */
export interface ListedPerson {
  /** As `personOf` names them. */
  person: string
  /** Epoch milliseconds. */
  firstAt: number
  lastAt: number
  /** Listed traits by name, as last reported. */
  traits: ReadonlyMap<string, ReportedTrait>
  /** The pages of their latest events, latest first. */
  pages: readonly SeenPage[]
}

/** An order of people; those of equal times follow each other by name, in the same direction. */
export interface PeopleOrder {
  by: 'lastSeen' | 'firstSeen' | 'id'
  isDescending: boolean
}

/** A place in an order of people. */
export type PeoplePlace = Pick<ListedPerson, 'person' | 'firstAt' | 'lastAt'>

/** What a page of people is sorted by: `flows` is how many they have seen. */
export interface PeopleSort {
  by: PeopleOrder['by'] | 'flows' | { trait: string }
  isDescending: boolean
}

/** A person's place in any order: those of equal values follow each other by name, those without one come last. */
export interface SortedPlace {
  value: number | string | null
  /** As `personOf` names them. */
  person: string
}

export interface SortedPerson extends SortedPlace {
  listed: ListedPerson
}

/** The outcomes of a person's runs of one flow. */
export interface MetFlow {
  flowRef: FlowRef
  /** Whether any run was completed, or dismissed. */
  isCompleted: boolean
  isDismissed: boolean
}

/** Which people a list has. */
export interface PeopleConditions {
  /** A part of an ID, in lower case. */
  search: string | null
  /** Rules on traits as last reported. All of these have to hold. */
  rules: readonly Pick<PeopleFilter, 'match' | 'rules'>[]
  flows: readonly {
    flowRef: FlowRef
    /** The person's best outcome; undefined for any run. */
    outcome: FlowCondition['outcome']
    /** The step at which a run that was not completed was left. */
    left: {
      stepRef: StepRef
      /** Steps by version: a run that viewed one of them got further. Null for all other versions. */
      further: ReadonlyMap<number | null, readonly StepRef[]>
    } | null
    /** An answer that some run has to have. */
    answer: (Omit<AnswerCondition, 'step'> & { stepRef: StepRef }) | null
  }[]
}

/** What a list of people needs from storage. */
export interface PeopleList {
  /**
   * People after a place in an order, some at a time. Null for the beginning. While it finds nobody who meets
   * the conditions, it returns empty lists, so that a caller can end it.
   */
  people(
    orgRef: OrganisationRef,
    order: PeopleOrder,
    after: PeoplePlace | null,
    conditions?: PeopleConditions,
  ): AsyncIterable<readonly ListedPerson[]>
  /**
   * The first people after a place in any order, and at most `max`.
   *
   * @throws AppError if the caller is gone
   */
  first(
    orgRef: OrganisationRef,
    page: PeopleSort & { after: SortedPlace | null; max: number },
    conditions: PeopleConditions,
    signal: AbortSignal,
  ): Promise<readonly SortedPerson[]>
  /** How many people meet conditions. @throws AppError if the caller is gone */
  count(orgRef: OrganisationRef, conditions: PeopleConditions, signal: AbortSignal): Promise<number>
  /** Null if no stored event is of them. */
  person(orgRef: OrganisationRef, person: string): Promise<ListedPerson | null>
  /** The flows that each of these people has a run of. */
  metFlows(
    orgRef: OrganisationRef,
    people: readonly string[],
  ): Promise<ReadonlyMap<string, readonly MetFlow[]>>
}

/** What the data of people needs from storage. */
export interface PeopleStore {
  /**
   * The latest events of a person. The ledger is not sorted by person, so one search covers a limited part
   * of it, and may find fewer than requested, or none.
   *
   * @param before only events before this cursor; null for the latest
   * @param most how many events at most
   */
  events(person: NamedPerson, before: string | null, most: number): Promise<PersonsEvents>
  /** Everything that contains a person's id. Rows are read on demand. */
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
  ): Promise<Erasure>
  /** Accepts a person's reports again. False if they had not been erased. */
  allow(person: NamedPerson, audit: ErasureAudit): Promise<boolean>
}
