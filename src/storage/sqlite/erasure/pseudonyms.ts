import type { NewEvent } from '../../shared/in-rows.ts'

const form = /^erased-[0-9a-f]{24}$/

/** What every pseudonym matches, in SQLite's patterns. */
export const pseudonymGlob = 'erased-*'

/** Whether an id replaces that of somebody who was erased. */
export const isPseudonym = (id: string): boolean => form.test(id)

/**
 * What replaces an erased person's names. Within one flow, the same name always gets the same pseudonym, so
 * that every count stays as it is. Every flow has different ones, so that nobody can be followed from one
 * flow to the next. All are made from a secret that is forgotten when the erasure is done.
 */
export class Pseudonyms {
  constructor(private readonly secret: string) {}

  /** Replaces a user id or an anonymous id. */
  person(flowRow: number | null): string {
    return this.of('person', flowRow)
  }

  /** Replaces a name (`personOf`) in a flow by one of the same kind. */
  nameIn(flowRow: number, name: string): string {
    return `${name[0]}${this.person(flowRow)}`
  }

  /** The same in the reports of a step, which are counted by person too. */
  nameInStep(stepRow: number, name: string): string {
    return `${name[0]}${this.of('step', stepRow)}`
  }

  run(flowRow: number | null, runId: string): string {
    return this.of('run', flowRow, runId)
  }

  session(flowRow: number | null, sessionId: string): string {
    return this.of('session', flowRow, sessionId)
  }

  /**
   * An event of the person without anything personal: what happened, where in the flow and when.
   *
   * @param keepsRun whether its run id stays, because the run is also of others
   */
  event(event: NewEvent, keepsRun: boolean): NewEvent {
    const { flowRef: flowRow, runId, sessionId } = event
    const person = this.person(flowRow)
    return {
      ...event,
      id: this.of('event', null, event.id),
      userId: event.userId === null ? null : person,
      anonymousId: event.userId === null ? person : null,
      runId: runId === null || keepsRun ? runId : this.run(flowRow, runId),
      sessionId: sessionId === null ? null : this.session(flowRow, sessionId),
      reportedAt: null,
      url: null,
      // A custom event must have a name.
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
