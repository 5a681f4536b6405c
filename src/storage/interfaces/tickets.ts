import { type StaticDecode, Type } from '@sinclair/typebox'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { ProposedChange } from '../../core/flow/proposed-change.ts'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Instant, InstantOrNull, OneOf, Text } from '../../core/shapes.ts'
import { Fingerprint } from '../../core/step/fingerprint.ts'
import { grades } from '../../core/step/proposal.ts'

const pageExample = 'https://app.example.com/projects'

/** A link that shows a draft on the real page. */
export const Preview = Type.Object(
  {
    id: Text('ID of the link.', 'preview_3xYzQa1b2c3d4e5f6g'),
    flow: Text('Key of the flow.', 'welcome'),
    isFile: Type.Boolean({
      description: 'True if the link shows a flow from the request, not the stored draft.',
      examples: [false],
    }),
    url: Text('Page that the link opens.', pageExample),
    origin: Text('The only origin whose pages show the draft.', 'https://app.example.com'),
    madeBy: Text('Who created the link.', 'Ann'),
    madeAt: Instant('When the link was created.'),
    expiresAt: Instant('When the link stops working.'),
    openedAt: InstantOrNull('When a page last loaded the draft. Null if never.'),
  },
  { title: 'Preview' },
)
export type Preview = StaticDecode<typeof Preview>

/** An element that an author picked on a page. */
export const Proposal = Type.Object(
  {
    number: Type.Integer({
      description: 'Number of the proposal in its session, from 1.',
      examples: [1],
    }),
    at: Instant('When it was picked.'),
    page: Text('Page, without query and fragment.', pageExample),
    element: Text('Short description of the element.', 'button “New project”'),
    candidates: Type.Array(
      Type.Object({
        selector: Text('CSS selector.', '[data-test="new-project"]'),
        matchCount: Type.Integer({
          description: 'Number of elements on the page that it matched.',
          examples: [1],
        }),
        grade: OneOf(grades, {
          description: 'How likely the selector is to keep finding the element.',
          examples: ['strong'],
        }),
        weaknesses: Type.Array(Type.String(), {
          description: 'Parts that are likely to break, one sentence each.',
          examples: [[]],
        }),
        mayNamePerson: Type.Boolean({
          description: 'True if a text in the selector may be the name of a person.',
          examples: [false],
        }),
      }),
      { description: 'Selectors that find the element, best first.' },
    ),
    fingerprint: Fingerprint,
    isWrapper: Type.Boolean({
      description:
        'True if the element only wraps what people use. Check that it is the right one.',
      examples: [false],
    }),
    mayNamePerson: Type.Boolean({
      description: 'True if a text of the element may be the name of a person.',
      examples: [false],
    }),
  },
  { title: 'Proposal' },
)
export type Proposal = StaticDecode<typeof Proposal>

/** A change of the draft that a page has proposed. It takes effect once the author's dashboard has saved it. */
export const WaitingChange = Type.Object(
  {
    number: Type.Integer({
      description: 'Number of the change in its session, from 1.',
      examples: [1],
    }),
    at: Instant('When it was proposed.'),
    change: ProposedChange,
  },
  { title: 'WaitingChange' },
)
export type WaitingChange = StaticDecode<typeof WaitingChange>

export const authorTasks = ['pick', 'build'] as const

/** Why proposed changes are not in the draft yet. */
export const buildProblems = ['invalid', 'conflict', 'unsaved'] as const

/** What an author session is for. */
export const AuthorTask = {
  task: OneOf(authorTasks, {
    description: 'Whether the page proposes an element for the step, or changes of the draft.',
    examples: ['pick'],
  }),
  flow: Text('Key of the flow.', 'welcome'),
  step: Text('Key of the step. A builder begins with it.', 'create'),
  code: Text('Four letters that the page shows too, to show that the two belong together.', 'KHTW'),
}

export const AuthorSessionFields = {
  id: Text('ID of the session.', 'author_3xYzQa1b2c3d4e5f6g'),
  ...AuthorTask,
  url: Text('Page to pick the element on.', pageExample),
  origin: Text('The only origin whose pages can take part.', 'https://app.example.com'),
  expiresAt: Instant('When the session ends if it is not used until then.'),
}

/** A session in which an author picks an element on a page. */
export const AuthorSession = Type.Object(
  {
    ...AuthorSessionFields,
    state: OneOf(['waiting', 'connected', 'ended'], {
      description: 'Whether the page has connected, and whether it still is.',
      examples: ['connected'],
    }),
    proposals: Type.Array(Proposal, { description: 'The latest five, oldest first.' }),
    changes: Type.Array(WaitingChange, {
      description: 'Proposed changes of the draft that are not settled yet, oldest first.',
    }),
  },
  { title: 'AuthorSession' },
)
export type AuthorSession = StaticDecode<typeof AuthorSession>

/** How far the author's dashboard has come with the changes. */
interface Settled {
  /** Why the changes that wait are not in the draft; null if nothing is wrong. */
  problem: (typeof buildProblems)[number] | null
  /** How many changes can be undone. */
  undos: number
}

interface Held {
  /** `org_…`. */
  organisation: string
  /** Hash of the secret that pages send. Null once a page of another origin has sent it. */
  sha256: string | null
}

export interface PreviewTicket extends Preview, Held {
  kind: 'preview'
  /** The flow to show. Null for the stored draft, which is read at each load. */
  definition: FlowDefinition | null
}

/** The secret is the ticket at first, and the page's token once it is redeemed. */
export interface AuthorTicket extends Omit<AuthorSession, 'state'>, Held {
  kind: 'author'
  /** Who started the session. Nobody else can see it. */
  author: string
  /** Hash of the code that can be typed instead of the ticket. Null once one of the two is used up. */
  typedSha256: string | null
  wrongCodes: number
  /** When a page redeemed the ticket. Null until then. */
  connectedAt: number | null
  /** The id of each change that is not settled, and of those before, so that none is taken twice. */
  changeIds: string[]
  /** How many changes were proposed in all. */
  changeCount: number
  /** How many requests the page has made in its last second, which is counted from the epoch. */
  requests: { second: number; count: number }
  /** When the author's dashboard last read the session. */
  attendedAt: number
  /** What the dashboard last reported about the changes. */
  settled: Settled
}

/** A short-lived secret that pages of one origin hold. JSON can carry it. */
export type Ticket = PreviewTicket | AuthorTicket

export type Tickets = Map<string, Ticket>

/** A server alone has its tickets only in memory, so they end when it does. Several share them in their database. */
export interface TicketStore {
  /** Reads and changes the tickets of all organisations, by id. `work` must change nothing before it throws. */
  use<T>(work: (tickets: Tickets) => T): Promise<T>
  /** Writes an entry into the audit log of an organisation. */
  note(orgRef: OrganisationRef, entry: AuditEntry): Promise<void>
}
