import type * as events from '../../core/event/event.ts'
import type { Reference } from '../../core/reference.ts'
import type { ProgressLedger } from '../interfaces/checklists.ts'
import type * as steps from '../interfaces/steps.ts'

/**
 * A port, or what passes through one, as this store sees it: the opaque references of others are its row numbers.
 * Only the types differ, so nothing is converted when something passes.
 */
export type InRows<T> = T extends Reference
  ? number
  : T extends Promise<infer Value>
    ? Promise<InRows<Value>>
    : T extends AsyncIterable<infer Value>
      ? AsyncIterable<InRows<Value>>
      : T extends ReadonlyMap<infer Key, infer Value>
        ? ReadonlyMap<InRows<Key>, InRows<Value>>
        : T extends ReadonlySet<unknown> | ArrayBufferView
          ? T
          : T extends (...args: infer Args) => infer Result
            ? (...args: InRows<Args>) => InRows<Result>
            : T extends object
              ? { [Key in keyof T]: InRows<T[Key]> }
              : T

/** The reference that others have for a row, and the row of such a reference. */
export const refOf = <Ref extends Reference>(row: number) => row as unknown as Ref
export const rowOf = (ref: Reference) => ref as unknown as number

/** A port that this store implements, as others see it. */
export const asPort = <Port>(port: InRows<Port>) => port as unknown as Port

/** What a command or a dead letter contains: there, the names of references say that they are rows. */
export type WithRows<T> = {
  [Key in keyof T as Key extends `${infer Noun}Ref` ? `${Noun}Row` : Key]: InRows<T[Key]>
}

export type NewEvent = InRows<events.NewEvent>
export type StoredEvent = InRows<events.StoredEvent>
export type EventBatch = WithRows<events.EventBatch>
export type HealthReport = WithRows<steps.HealthReport>
export type FingerprintReport = WithRows<steps.FingerprintReport>
export type CompletionReport = WithRows<Parameters<ProgressLedger['complete']>[0]>
export type TickReport = Omit<WithRows<Parameters<ProgressLedger['tick']>[0]>, 'items'> & {
  items: readonly { itemRow: number; completed: boolean }[]
}
