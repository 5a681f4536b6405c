import firstSchema from './0001-first.sql' with { type: 'text' }

/**
 * A step from one schema to the next. A release is rolled out node by node, so a step comes in two: one that
 * expands, which releases of before can go on with, and in a later release one that takes away what by then
 * none needs.
 */
export interface Migration {
  id: number
  name: string
  text: string
  /** The oldest schema whose release can go on with the database after this step. */
  usableFrom: number
}

/** What brings a database to this release's schema, in order. One that was released is not changed again. */
export const migrations: readonly Migration[] = [
  { id: 1, name: 'first', text: firstSchema, usableFrom: 1 },
]

/** The schema that this release works with. */
export const schemaVersion = migrations.at(-1)!.id
