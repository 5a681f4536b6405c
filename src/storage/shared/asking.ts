import type { MaybePromise } from '../../core/organisation/catalogue.ts'

type Value = string | number | null

/** A statement that is run again and again. */
export interface Prepared<Row> {
  all(...values: Value[]): MaybePromise<Row[]>
}

/**
 * How code that is the same over each database queries it: by statements that both understand, and that take
 * values as `$1`, `$2` and so on, named in this order. A connection to SQLite already is one. Its `query` closes
 * statements together with the connection; otherwise its files would stay open.
 */
export interface Asking {
  query<Row>(text: string): Prepared<Row>
}
