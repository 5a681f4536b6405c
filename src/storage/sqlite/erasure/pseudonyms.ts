import { newEventId } from '../../../core/organisation/ids.ts'
import type { NewEvent } from '../../shared/in-rows.ts'

const form = /^erased-[0-9a-f]{24}$/

/** Whether an id stands in place of somebody who was erased. */
export const isPseudonym = (id: string): boolean => form.test(id)

/**
 * What stands in place of an erased person's names: the same for the same name within one flow, so that
 * every count stays as it is; another in every flow, so that one cannot be followed to the next. All
 * is made from a secret that is forgotten when the erasure is done.
 */
export class Pseudonyms {
  constructor(private readonly secret: string) {}

  /** In place of a user id or an anonymous id. */
  person(flowRow: number | null): string {
    return this.of('person', flowRow)
  }

  /** Among the reports of a step, which are counted by person too. */
  personOfStep(stepRow: number): string {
    return this.of('step', stepRow)
  }

  run(flowRow: number | null, runId: string): string {
    return this.of('run', flowRow, runId)
  }

  session(flowRow: number | null, sessionId: string): string {
    return this.of('session', flowRow, sessionId)
  }

  /**
   * An event of the person without anything of theirs: what happened, where in the flow and when.
   *
   * @param keepsRun whether its run id stays, because it is also of others
   */
  event(event: NewEvent, keepsRun: boolean): NewEvent {
    const { flowRef: flowRow, runId, sessionId } = event
    const person = this.person(flowRow)
    return {
      ...event,
      id: newEventId(),
      userId: event.userId === null ? null : person,
      anonymousId: event.userId === null ? person : null,
      runId: runId === null || keepsRun ? runId : this.run(flowRow, runId),
      sessionId: sessionId === null ? null : this.session(flowRow, sessionId),
      reportedAt: null,
      url: null,
      // A custom event has to have one.
      name: event.kind === 'custom' ? 'erased' : null,
      reason: null,
      properties: null,
      traits: null,
    }
  }

  private of(what: string, scope: number | null, text = ''): string {
    const hasher = new Bun.CryptoHasher('sha256', this.secret)
    const digest = hasher.update(`${what} ${scope ?? ''} ${text}`).digest('hex')
    return `erased-${digest.slice(0, 24)}`
  }
}
