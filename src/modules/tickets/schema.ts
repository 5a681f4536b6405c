import { type Static, Type } from '@sinclair/typebox'
import { Flow, FlowDefinition } from '../../core/flow/flow.ts'
import { ProposedChange } from '../../core/flow/proposed-change.ts'
import { Theme } from '../../core/flow/theme.ts'
import { closed, key, text } from '../../core/flow/values.ts'
import { maxChanges, previewMinutes } from '../../core/organisation/ticket.ts'
import { OneOf, OrNull, Text } from '../../core/shapes.ts'
import {
  type AuthorSession,
  AuthorSessionFields,
  AuthorTask,
  authorTasks,
  buildProblems,
  Preview,
} from '../../storage/interfaces/tickets.ts'

const pageExample = 'https://app.example.com/projects'

export const NewPreview = closed(
  {
    flow: Type.Optional(
      text(1, 64, { description: 'Key of a stored flow. Each load shows its current draft.' }),
    ),
    definition: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Instead of `flow`: a flow as in a flow file. It is shown but not stored.',
      }),
    ),
    url: Type.Optional(
      text(1, 2_048, {
        description:
          'Page to show the draft on, or its path if the organisation lists one origin. Default: a page that the flow names.',
        examples: [pageExample],
      }),
    ),
    minutes: Type.Optional(
      Type.Integer({
        minimum: previewMinutes.min,
        maximum: previewMinutes.max,
        description: `How many minutes the link works. Default: ${previewMinutes.default}.`,
        examples: [previewMinutes.default],
      }),
    ),
  },
  { examples: [{ flow: 'welcome', url: pageExample }] },
)
export type NewPreview = Static<typeof NewPreview>

export const PreviewList = Type.Object({ previews: Type.Array(Preview) }, { title: 'PreviewList' })
export type PreviewList = Static<typeof PreviewList>

export const CreatedPreview = Type.Object(
  {
    ...Preview.properties,
    link: Text(
      'Page with the secret in its fragment, returned once. Anyone with the link sees the draft.',
      `${pageExample}#cairn-preview=…`,
    ),
    oldSnippet: OrNull(
      Type.String(),
      'Version of the last snippet seen, if it is too old to show previews.',
      null,
    ),
    needsSnippet: Text('First version of the snippet that shows previews.', '0.1.0'),
  },
  { title: 'CreatedPreview' },
)
export type CreatedPreview = Static<typeof CreatedPreview>

/** The flow has its keys in place of ids, so that nothing can be reported about it. */
export const PreviewedFlow = Type.Object({
  flow: Flow,
  expiresAt: Type.String(),
  theme: Type.Optional(Theme),
})
export type PreviewedFlow = Static<typeof PreviewedFlow>

export const NewAuthorSession = closed(
  {
    flow: key('Key of the flow. It need not be stored yet.'),
    step: key('Key of the step. It need not be stored yet.'),
    url: text(1, 2_048, { description: 'Page to open.', examples: [pageExample] }),
    task: Type.Optional(
      OneOf(authorTasks, {
        description:
          '"pick": the page proposes an element for the step. "build": it shows the stored draft, from the step on, and proposes changes. Default: pick.',
      }),
    ),
  },
  { examples: [{ flow: 'welcome', step: 'create', url: pageExample }] },
)

export const CreatedAuthorSession = Type.Object(
  {
    ...AuthorSessionFields,
    ticket: Text('A page of the origin can redeem it once, within two minutes.', '…'),
    typedCode: Text("Code for `cairn.author('…')` in the page's console instead.", 'K7Q4MD'),
    openAddress: Text(
      'Page with the ticket in its fragment. Open it in a new tab.',
      `${pageExample}#cairn-author=…`,
    ),
  },
  { title: 'CreatedAuthorSession' },
)
export type CreatedAuthorSession = Static<typeof CreatedAuthorSession>

/** A session as the dashboard reads it. */
export type SentAuthorSession = Static<typeof AuthorSession>

export const RedeemedTicket = closed({
  ticket: Type.Optional(Type.String({ maxLength: 100 })),
  code: Type.Optional(Type.String({ maxLength: 100 })),
})

export const AuthoredStep = Type.Object({
  ...AuthorTask,
  draft: OrNull(
    Type.Object({ title: Type.String(), selector: Type.Union([Type.String(), Type.Null()]) }),
    'The step in the stored draft. Null if it has no such step.',
  ),
})
export type AuthoredStep = Static<typeof AuthoredStep>

export const ConnectedPage = Type.Object({ token: Type.String(), ...AuthoredStep.properties })

/** Answers whether the author's dashboard has applied what the page has proposed. */
export const SettledChanges = closed(
  {
    number: Type.Integer({
      minimum: 0,
      maximum: maxChanges,
      description: 'Number of the last change that the draft has, or that changed nothing.',
    }),
    problem: Type.Union([OneOf(buildProblems), Type.Null()], {
      description: 'Why the changes after it are not saved. Null if nothing is wrong.',
    }),
    undos: Type.Integer({
      minimum: 0,
      maximum: maxChanges,
      description: 'How many changes the page can undo.',
    }),
  },
  { examples: [{ number: 3, problem: null, undos: 3 }] },
)

export const KnownDraft = closed({
  known: Type.Optional(text(1, 100)),
})

/** At most this many flows are named to a builder. */
export const maxStartable = 200

/** The draft of a builder, with keys in place of ids. The first three are left out if the page has them. */
export const BuiltDraft = Type.Object({
  tag: Type.String(),
  flow: Type.Optional(Flow),
  theme: Type.Optional(Theme),
  /** The flows that a button can start, by name: those that are published, and nothing else of them. */
  startable: Type.Optional(
    Type.Array(
      Type.Object({
        key: Type.String(),
        name: Type.String(),
        kind: FlowDefinition.properties.kind,
      }),
    ),
  ),
  isAttended: Type.Boolean(),
  waiting: Type.Array(Type.String()),
  problem: Type.Union([OneOf(buildProblems), Type.Null()]),
  undos: Type.Integer(),
})
export type BuiltDraft = Static<typeof BuiltDraft>

/** The id is the page's own, so that a change that is sent twice is taken once. */
export const NewChange = closed({
  id: Type.String({ pattern: '^[\\w-]{8,40}$' }),
  change: ProposedChange,
})
export type NewChange = Static<typeof NewChange>

const maxCandidates = 5

export const PickedElement = closed({
  page: text(1, 2_048),
  element: text(1, 200),
  candidates: Type.Array(
    closed({
      selector: text(1, 1_000),
      matchCount: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    }),
    { minItems: 1, maxItems: maxCandidates },
  ),
  /** `allowedFingerprint` drops everything that may not be stored. */
  fingerprint: Type.Object({}),
  isWrapper: Type.Optional(Type.Boolean()),
})
export type PickedElement = Static<typeof PickedElement>
