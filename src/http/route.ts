import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { PublicErrorCode } from '../core/errors.ts'
import type { FlowEntry, StepEntry } from '../core/organisation/catalogue.ts'
import type { Needs, RouteAccess } from './principal.ts'
import type { RequestContext } from './request-context.ts'
import type { Reply } from './responder.ts'

/** The groups of operations, in the order of the document. */
export const tags = {
  Flows: 'Published tours, checklists, announcements and launchers.',
  Checklists: "A person's progress.",
  Events: 'What people did, in batches. Each event is stored once.',
  Steps: "Whether pages find a step's element, and whether it has changed.",
  Liveness: 'Whether the snippet is installed and running, and how to fix it.',
  Analytics: "A flow's runs in numbers.",
  Management: 'For back ends, CI and the command line, with a management token.',
  Description: 'This description.',
} as const

export type Tag = keyof typeof tags

/** Where the API lives. */
const apiPrefix = '/api/v1'

/**
 * What the path's id must name. A published flow is one that callers see now. A reported one was published at
 * some time, because reports about it may arrive late.
 */
export type PathSubject = 'published flow' | 'reported flow' | 'any flow' | 'reported step'

/** What the gate found for a subject. */
export type FoundFor<S extends PathSubject | undefined> = S extends 'reported step'
  ? StepEntry
  : S extends PathSubject
    ? FlowEntry
    : null

/** A response as the API's description states it. */
export interface ResponseShape {
  /** When it is given, in one sentence. */
  description: string
  /**
   * Its body; absent if it has none. Services return the schema's own type, so that the two cannot drift
   * apart.
   */
  schema?: TSchema
  /** An example body. */
  example?: unknown
  /** JSON unless set. */
  type?: 'application/x-ndjson' | 'text/csv' | 'text/html' | '*/*'
  /** It is the same for many callers: it has an `ETag`, is compressed, and is a 304 for those that have it. */
  isShared?: boolean
  /** It has an `ETag`, with which an edit names the version that it has read. */
  hasETag?: boolean
  /** Offered as a file, by `Content-Disposition`. */
  isFile?: boolean
}

/** What a route returns on success, by status; 422 only if that body is more than an error. */
export type ResponseShapes = (
  | { 200: ResponseShape }
  | { 201: ResponseShape }
  | { 202: ResponseShape }
  | { 204: ResponseShape }
) & {
  422?: ResponseShape
}

/** A route is data and one call. Without a caller, a bucket and its responses it does not compile. */
export type Route<
  S extends PathSubject | undefined = PathSubject | undefined,
  B extends TSchema | undefined = TSchema | undefined,
  Q extends TObject | undefined = TObject | undefined,
> = RouteAccess & {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1` (except for the product's files), with `:flow_id` or `:step_id` for the subject. */
  path: string
  /** What generated clients call it: a verb and a noun. */
  operation: string
  tag: Tag
  /** One line for the API's description. */
  summary: string
  /** Further details, in Markdown. */
  description?: string
  responses: ResponseShapes
  /** `?key=` is accepted, for callers that cannot set headers. POST routes always accept it. */
  keyInQuery?: boolean
  subject?: S
  body?: B
  /** The body is a file, and is handed over as bytes. */
  binaryBody?: boolean
  bodyLimitBytes?: number
  query?: Q
  /** Something is stored, so the response can be 503. This always holds for all but GET routes. */
  isWrite?: boolean
  /** Codes of errors that do not follow from the other fields. */
  errors?: readonly PublicErrorCode[]
  /** `If-Match` has to name the version that was read (428, 412). */
  isConditional?: boolean
  /** Beside the API and not in its description: a file that browsers load, or a request of Cairn's own pages. */
  isProductFile?: boolean
  /**
   * Who reads its responses if not pages of any origin: Cairn's own pages, and then everything else is rejected
   * (401); or no page, for addresses that browsers and providers are sent to.
   */
  readers?: 'own pages' | 'no page'
  /** A download that may take long: the connection is not cut while the client reads. */
  isLong?: boolean
  handle(
    call: RequestContext<
      FoundFor<S>,
      B extends TSchema ? Static<B> : null,
      Q extends TObject ? Static<Q> : Record<string, never>
    >,
  ): Reply | Promise<Reply>
}

/** A route's path on the public port. */
export const publicPath = ({ path, isProductFile }: Route): string =>
  isProductFile ? path : `${apiPrefix}${path}`

export const defaultBodyLimitBytes = 64 * 1024

/** Declares a route, with the types of its subject, body and query handed to `handle`. */
export function route<
  S extends PathSubject | undefined = undefined,
  B extends TSchema | undefined = undefined,
  Q extends TObject | undefined = undefined,
>(definition: Route<S, B, Q>): Route {
  return definition as unknown as Route
}

/** What all management routes share, given what they require of their caller. */
export const managing = <N extends Needs>(needs: N) =>
  ({ caller: 'management', bucket: 'manage', tag: 'Management', needs }) as const

/** Whether a request may change what the API returns. */
export const mayChange = ({ caller, method }: Pick<Route, 'caller' | 'method'>): boolean =>
  caller === 'management' && method !== 'GET'

/** Whether the snippet key may stand in the query. */
export const takesKeyInQuery = ({ caller, keyInQuery, method }: Route): boolean =>
  caller === 'snippet key' && (keyInQuery === true || method === 'POST')
