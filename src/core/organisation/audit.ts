/** Who makes a change, and through what. */
export interface Actor {
  via: 'command line' | 'token' | 'dashboard' | 'mail'
  /** The operator's user name, a token's name and id, the name of the person who signed in, or "recipient". */
  name: string
  requestId: string | null
}

/** A line of the audit log. It is written in the same transaction as the change that it records. */
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
