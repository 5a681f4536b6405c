/** Who changes something, and by which way. */
export interface Actor {
  via: 'command line' | 'token' | 'dashboard'
  /** The operator's user name, a token's name and id, or who signed in. */
  name: string
  requestId: string | null
}

/** A line of the audit log, which is written in the transaction of the change that it is about. */
export interface AuditEntry {
  at: number
  actor: Actor
  /** A noun and a verb: `flow.publish`. */
  action: string
  /** What was changed, such as a flow's key. */
  subject: string
  before: Readonly<Record<string, unknown>> | null
  after: Readonly<Record<string, unknown>> | null
  note: string | null
}
