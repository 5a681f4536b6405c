import type { Database, Statement } from 'bun:sqlite'
import type { Asking } from '../../shared/asking.ts'

/** How SQLite is asked over a connection; each statement is prepared once. */
export function asking(database: Database): Asking {
  const prepared = new Map<string, Statement>()
  const statementOf = (text: string) => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  return {
    all: <Row>(text: string, ...values: (string | number | null)[]) =>
      statementOf(text).all(...values) as Row[],
    get: <Row>(text: string, ...values: (string | number | null)[]) =>
      statementOf(text).get(...values) as Row | null,
  }
}
