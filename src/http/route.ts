import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { Bucket } from '../core/buckets.ts'
import type { FlowEntry, StepEntry } from '../core/catalogue.ts'
import type { Call } from './call.ts'
import type { Reply } from './reply.ts'

/** Who may call a route: a page or back end with a snippet key, or an analyst with a session token. */
export type Caller = 'snippet key' | 'session token'

/**
 * What the path's id must name. A published flow is one that callers see now; a reported one was
 * ever published, because reports about it may arrive late.
 */
export type Subject = 'published flow' | 'reported flow' | 'any flow' | 'reported step'

/** What the gate found for a subject. */
export type Found<S extends Subject | undefined> = S extends 'reported step'
  ? StepEntry
  : S extends Subject
    ? FlowEntry
    : null

/** A route is data and one call. Without a caller and a bucket it does not compile. */
export interface Route<
  S extends Subject | undefined = Subject | undefined,
  B extends TSchema | undefined = TSchema | undefined,
  Q extends TObject | undefined = TObject | undefined,
> {
  method: 'GET' | 'POST'
  /** Below `/api/v1`, with `:flow_id` or `:step_id` for the subject. */
  path: string
  /** One line for the API's description. */
  summary: string
  caller: Caller
  bucket: Bucket
  /** `?key=` is honoured, for callers that cannot set headers. POST routes always do. */
  keyInQuery?: boolean
  subject?: S
  body?: B
  bodyLimitBytes?: number
  query?: Q
  /** A download that may take long: the connection is not cut while the client reads. */
  isLong?: boolean
  handle(
    call: Call<
      Found<S>,
      B extends TSchema ? Static<B> : null,
      Q extends TObject ? Static<Q> : Record<string, never>
    >,
  ): Reply | Promise<Reply>
}

export const defaultBodyLimitBytes = 64 * 1024

/** Declares a route, with the types of its subject, body and query handed to `handle`. */
export function route<
  S extends Subject | undefined = undefined,
  B extends TSchema | undefined = undefined,
  Q extends TObject | undefined = undefined,
>(definition: Route<S, B, Q>): Route {
  return definition as unknown as Route
}
