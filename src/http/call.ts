import type { Organisation } from '../core/organisation/catalogue.ts'
import { newRequestId } from '../core/organisation/ids.ts'
import type { Taken } from '../core/organisation/limiter.ts'
import type { Principal } from './principal.ts'
import type { Route } from './route.ts'

const nothing = {}
const nobodyTold = () => {}

/** One request, and what the gate has found out about it so far. */
export class Call<Subject = unknown, Body = unknown, Query = unknown> {
  readonly requestId = newRequestId()
  /** The page's origin; null where the request is not a page's. */
  readonly origin: string | null
  /** Whose credential it is; null until one was verified. */
  organisation: Organisation | null = null
  /** What the limiter said; null where nothing was counted. */
  taken: Taken | null = null
  /** Who manages; null outside the management API. */
  principal: Principal | null = null
  /** What the path names, by the name of its place; as it was sent, decoded. */
  params: Readonly<Record<string, string>> = nothing
  subject = null as Subject
  body = null as Body
  /** The body as it was sent. */
  bodyText = ''
  query = nothing as Query
  /** Told when an answer that had begun could not be sent to its end; of long routes alone. */
  onBroken: (error: unknown) => void = nobodyTold

  constructor(
    readonly request: Request,
    /** The declared route; null where the path names none. */
    readonly route: Route | null,
    /** Wall clock at receipt, epoch milliseconds. */
    readonly receivedAt: number,
    /** Monotonic milliseconds at receipt. */
    readonly startedAt: number,
  ) {
    this.origin = request.headers.get('origin')
  }

  /** The organisation, in routes: the gate lets nobody in without one. */
  get org(): Organisation {
    if (!this.organisation) throw new Error('The gate has not been passed')
    return this.organisation
  }
}
