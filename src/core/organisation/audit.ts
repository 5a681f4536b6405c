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

/** What an audit entry adds to its actor and time. */
type Change = Partial<Pick<AuditEntry, 'before' | 'after' | 'note'>>

/** Makes the entries of one actor at one time. */
export type Auditor = (action: string, subject: string, change?: Change) => AuditEntry

/** @param at epoch milliseconds */
export const auditor =
  (actor: Actor, at: number): Auditor =>
  (action, subject, { before = null, after = null, note = null } = {}) => ({
    at,
    actor,
    action,
    subject,
    before,
    after,
    note,
  })
