import type { MaybePromise } from '../../core/organisation/catalogue.ts'

/**
 * How a database is asked by what is the same over each: by statements that both understand, and that take
 * values as `$1`, `$2` and so on, named in this order.
 */
export interface Asking {
  all<Row>(text: string, ...values: readonly (string | number | null)[]): MaybePromise<Row[]>
  /** The first row; null where there is none. */
  get<Row>(text: string, ...values: readonly (string | number | null)[]): MaybePromise<Row | null>
}
