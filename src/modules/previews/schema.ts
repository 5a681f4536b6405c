import { type Static, Type } from '@sinclair/typebox'
import { Flow } from '../../core/flow/flow.ts'
import { Theme } from '../../core/flow/theme.ts'
import { closed, text } from '../../core/flow/values.ts'
import { previewMinutes } from '../../core/organisation/preview-link.ts'
import { Instant, InstantOrNull, OrNull, Text } from '../../core/shapes.ts'

const { least, usual, most } = previewMinutes

export const NewPreviewBody = closed(
  {
    flow: Type.Optional(
      text(1, 64, { description: 'The key of a stored flow: its draft is shown, as it is then.' }),
    ),
    definition: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'In its place a flow as flow files have it, which is shown as it is and stored nowhere.',
      }),
    ),
    url: Type.Optional(
      text(1, 2_048, {
        description:
          'The page to look at it on, or its path where the organisation lists one origin alone. Unless given, the page that the flow names.',
        examples: ['https://app.example.com/projects'],
      }),
    ),
    minutes: Type.Optional(
      Type.Integer({
        minimum: least,
        maximum: most,
        description: `How long the link works; ${usual} unless given.`,
        examples: [usual],
      }),
    ),
  },
  { examples: [{ flow: 'welcome', url: 'https://app.example.com/projects' }] },
)
export type NewPreviewBody = Static<typeof NewPreviewBody>

const PreviewFields = {
  id: Text('Its id.', 'preview_3xYzQa1b2c3d4e5f6g'),
  flow: Text('The key of the flow.', 'welcome'),
  isFile: Type.Boolean({
    description: 'Whether it shows a flow that was handed in, and not the stored draft.',
    examples: [false],
  }),
  url: Text('The page to look at it on.', 'https://app.example.com/projects'),
  origin: Text('The only origin whose pages show it.', 'https://app.example.com'),
  madeBy: Text('Who has made it.', 'Ann'),
  madeAt: Instant('When it was made.'),
  expiresAt: Instant('When it ends.'),
  openedAt: InstantOrNull('When a page last requested the flow. Null if never.'),
}

export const PreviewList = Type.Object(
  { previews: Type.Array(Type.Object(PreviewFields, { title: 'Preview' })) },
  { title: 'PreviewList' },
)
export type PreviewList = Static<typeof PreviewList>

export const CreatedPreview = Type.Object(
  {
    ...PreviewFields,
    link: Text(
      'The page with the ticket in its fragment, returned once. Whoever has it sees the draft.',
      'https://app.example.com/projects#cairn-preview=…',
    ),
    oldSnippet: OrNull(
      Type.String(),
      'The version of the snippet that was seen last, where it is too old to know previews.',
      null,
    ),
    needsSnippet: Text('The first version of the snippet that knows previews.', '0.1.0'),
  },
  { title: 'CreatedPreview' },
)
export type CreatedPreview = Static<typeof CreatedPreview>

/** What a page receives: the flow with its keys in place of ids, so that nothing can be reported about it. */
export const PreviewAnswer = Type.Object({
  flow: Flow,
  expiresAt: Type.String(),
  theme: Type.Optional(Theme),
})
export type PreviewAnswer = Static<typeof PreviewAnswer>
