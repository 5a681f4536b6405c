import { type AppError, unauthorizedCauseOf } from '../core/errors.ts'
import type { Clock } from '../core/time/clock.ts'
import type { Answered } from './answered.ts'
import type { Call } from './call.ts'
import { failure, refusalOf } from './failure.ts'
import { type Reply, response } from './reply.ts'

/** Who is told of answers. */
export interface Told {
  clock: Clock
  onAnswer(answered: Answered): void
  /** An answer that had begun, and was told as such, broke off: a download whose reading failed. */
  onBroken(answered: Answered): void
}

/** The one way out: every answer, good or bad, is told of and gets the headers that all have. */
export class Exit {
  constructor(private readonly told: Told) {}

  answer(call: Call, reply: Reply): Response {
    this.told.onAnswer(this.account(call, reply.status))
    return response(call, reply)
  }

  /** Whatever was thrown, as an answer. */
  refuse(call: Call, error: unknown): Response {
    const refusal = refusalOf(error)
    return this.refuseWith(call, refusal, failure(refusal))
  }

  /** A refusal whose reply says more than the refusal itself does. */
  refuseWith(call: Call, refusal: AppError, reply: Reply): Response {
    const account = this.account(call, reply.status)
    account.code = refusal.code
    account.cause = unauthorizedCauseOf(refusal)
    if (reply.status >= 500) account.error = refusal.cause ?? refusal
    this.told.onAnswer(account)
    return response(call, reply)
  }

  /** An answer that had begun could not be sent to its end. */
  breakOff(call: Call, error: unknown): void {
    const account = this.account(call, 500)
    account.error = error
    this.told.onBroken(account)
  }

  private account(call: Call, status: number): Answered {
    return {
      requestId: call.requestId,
      method: call.request.method,
      route: call.route === null ? null : call.route.path,
      organisation: call.organisation === null ? null : call.organisation.id,
      status,
      durationMs: this.told.clock.monotonic() - call.startedAt,
      code: undefined,
      cause: undefined,
      error: undefined,
    }
  }
}
