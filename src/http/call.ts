import type { Organisation } from '../core/catalogue.ts'
import { newRequestId } from '../core/ids.ts'
import type { Taken } from '../core/window-table.ts'
import type { Route } from './route.ts'

/** One request, and what the gate has found out about it so far. */
export class Call<Subject = unknown, Body = unknown, Query = unknown> {
  readonly requestId = newRequestId()
  /** The declared route; null where the path names none. */
  route: Route | null = null
  /** Whose credential it is; null until one was verified. */
  organisation: Organisation | null = null
  /** What the limiter said; null where nothing was counted. */
  taken: Taken | null = null
  subject = null as Subject
  body = null as Body
  query = {} as Query
  /** Told when an answer that had begun could not be sent to its end. */
  onBroken: (error: unknown) => void = () => {}

  constructor(
    readonly request: Request,
    /** Wall clock at receipt, epoch milliseconds. */
    readonly receivedAt: number,
    /** Monotonic milliseconds at receipt. */
    readonly startedAt: number,
  ) {}

  /** The organisation, in routes: the gate lets nobody in without one. */
  get org(): Organisation {
    if (!this.organisation) throw new Error('The gate has not been passed')
    return this.organisation
  }
}
