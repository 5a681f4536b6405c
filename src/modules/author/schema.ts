import { type Static, Type } from '@sinclair/typebox'
import { closed, key, text } from '../../core/flow/values.ts'
import { Instant, OneOf, OrNull, Text } from '../../core/shapes.ts'
import { Fingerprint as FingerprintShape } from '../../core/step/fingerprint-shape.ts'
import { grades } from '../../core/step/proposal.ts'

const PageUrl = {
  description: 'The page to pick on.',
  examples: ['https://app.example.com/projects'],
}

export const NewSessionBody = closed(
  {
    flow: key('The key of the flow, which may not be stored yet.'),
    step: key('The key of its step, which may not be stored yet either.'),
    url: text(1, 2_048, PageUrl),
  },
  { examples: [{ flow: 'welcome', step: 'create', url: PageUrl.examples[0] }] },
)

const Task = {
  flow: Text('The key of the flow.', 'welcome'),
  step: Text('The key of its step.', 'create'),
  code: Text(
    'Four letters that the page shows too: so that you see that the two belong together.',
    'KHTW',
  ),
}

const Session = {
  id: Text('Its id.', 'author_3xYzQa1b2c3d4e5f6g'),
  ...Task,
  url: Type.String(PageUrl),
  origin: Text('The only origin that can take part.', 'https://app.example.com'),
  expiresAt: Instant('When it ends if nothing happens.'),
}

export const CreatedSession = Type.Object(
  {
    ...Session,
    ticket: Text('Can be spent once, within two minutes, by a page of the origin.', '…'),
    typedCode: Text("The same for `cairn.author('…')` in the page's console.", 'K7Q4MD'),
    openAddress: Text(
      'The page with the ticket in its fragment, for a new tab.',
      'https://app.example.com/projects#cairn-author=…',
    ),
  },
  { title: 'CreatedAuthorSession' },
)
export type CreatedSession = Static<typeof CreatedSession>

const Proposal = Type.Object(
  {
    number: Type.Integer({ description: 'Counted from 1.', examples: [1] }),
    at: Instant('When it was picked.'),
    page: Text('The page, without query and fragment.', 'https://app.example.com/projects'),
    element: Text('The element in a few words.', 'button “New project”'),
    candidates: Type.Array(
      Type.Object({
        selector: Text('A CSS selector.', '[data-test="new-project"]'),
        matchCount: Type.Integer({
          description: 'How many elements of the page it matched.',
          examples: [1],
        }),
        grade: OneOf(grades, {
          description: 'How long it will probably go on to find the element.',
          examples: ['strong'],
        }),
        weaknesses: Type.Array(Type.String(), {
          description: 'What of it will probably break.',
          examples: [[]],
        }),
        mayNamePerson: Type.Boolean({
          description: 'A text in it may be the name of a person.',
          examples: [false],
        }),
      }),
      { description: 'Selectors that find it, the best first.' },
    ),
    fingerprint: FingerprintShape,
    isWrapper: Type.Boolean({
      description:
        'The element is only around what people use: look whether it is the one that is meant.',
      examples: [false],
    }),
    mayNamePerson: Type.Boolean({
      description: 'A text of the element may be the name of a person.',
      examples: [false],
    }),
  },
  { title: 'Proposal' },
)

export const AuthorSessionAnswer = Type.Object(
  {
    ...Session,
    state: OneOf(['waiting', 'connected', 'ended'], {
      description: 'Whether the page has come, and whether it is still there.',
      examples: ['connected'],
    }),
    proposals: Type.Array(Proposal, { description: 'The latest five, oldest first.' }),
  },
  { title: 'AuthorSession' },
)
export type AuthorSessionAnswer = Static<typeof AuthorSessionAnswer>

/** What a page redeems: the ticket from its address, or the code that somebody has typed. */
export const RedeemBody = closed({
  ticket: Type.Optional(Type.String({ maxLength: 100 })),
  code: Type.Optional(Type.String({ maxLength: 100 })),
})

/** What a page learns: the flow and step that it belongs to, and the step of the draft. */
export const VisitAnswer = Type.Object({
  ...Task,
  /** Null if the stored draft has no such step. */
  draft: OrNull(
    Type.Object({ title: Type.String(), selector: Type.Union([Type.String(), Type.Null()]) }),
    'The step as it was stored last.',
  ),
})
export type VisitAnswer = Static<typeof VisitAnswer>

export const RedeemAnswer = Type.Object({ token: Type.String(), ...VisitAnswer.properties })
export type RedeemAnswer = Static<typeof RedeemAnswer>

const maxSentCandidates = 5

export const PickBody = closed({
  page: text(1, 2_048),
  element: text(1, 200),
  candidates: Type.Array(
    closed({
      selector: text(1, 1_000),
      matchCount: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    }),
    { minItems: 1, maxItems: maxSentCandidates },
  ),
  /** `allowedFingerprint` drops everything that may not be kept. */
  fingerprint: Type.Object({}),
  isWrapper: Type.Optional(Type.Boolean()),
})
export type PickBody = Static<typeof PickBody>
