import type { MaybePromise } from '../../core/organisation/catalogue.ts'

type Value = string | number | null

/** A statement that is asked again and again. */
export interface Prepared<Row> {
  all(...values: Value[]): MaybePromise<Row[]>
}

/**
 * How a database is asked by what is the same over each: by statements that both understand, and that take
 * values as `$1`, `$2` and so on, named in this order. A connection to SQLite is one as it is; by `query` it
 * closes its statements with itself, without which its files would stay open.
 */
export interface Asking {
  query<Row>(text: string): Prepared<Row>
}
