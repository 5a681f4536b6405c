import firstSchema from './0001-first.sql' with { type: 'text' }
import requestedSends from './0002-requested-sends.sql' with { type: 'text' }

/**
 * A step from one schema to the next. A release is rolled out node by node, so a change takes two steps: one
 * that expands the schema, with which earlier releases can go on, and one in a later release that removes what
 * no release needs by then.
 */
export interface Migration {
  id: number
  name: string
  text: string
  /** The oldest schema whose release can go on with the database after this step. */
  usableFrom: number
}

/** The steps to this release's schema, in order. A step that was released is never changed. */
export const migrations: readonly Migration[] = [
  { id: 1, name: 'first', text: firstSchema, usableFrom: 1 },
  { id: 2, name: 'requested-sends', text: requestedSends, usableFrom: 1 },
]

/** The schema that this release works with. */
export const schemaVersion = migrations.at(-1)!.id
