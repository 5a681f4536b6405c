import { type Static, Type } from '@sinclair/typebox'
import { Flow, FlowDefinition } from '../../core/flow/flow.ts'
import { closed, text } from '../../core/flow/values.ts'
import { Count, FlowId, Instant, InstantOrNull, OneOf } from '../../core/shapes.ts'

/** The most flows and the most bytes of one call, so that validating them does not hold up others. */
export const maxFlowsACall = 50
export const maxBytesACall = 1_048_576

/**
 * A flow as in a flow file. It is validated by the rules of flow files, whose messages are better than a
 * schema's.
 */
const WrittenFlow = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'A flow as flow files have it; "cairn flows schema" prints the schema. What is left out has its default.',
  examples: [{ key: 'welcome', steps: [{ key: 'hello', title: 'Hello' }] }],
})

export const Note = Type.Optional(
  text(0, 1_000, { description: 'Why, for the audit log.', examples: ['For the spring release'] }),
)

const status = OneOf(['draft', 'published', 'archived'])

export const flowFields = {
  id: FlowId,
  key: Type.String({ examples: ['welcome'] }),
  name: Type.String({ examples: ['Welcome tour'] }),
  kind: OneOf(['tour', 'checklist', 'announcement']),
  status,
  version: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The newest published version; null for a flow that never was.',
    examples: [3],
  }),
  publishedAt: InstantOrNull('When the newest version was published.'),
  hasDraft: Type.Boolean({ description: 'Whether there is something newer to publish.' }),
  updatedAt: Instant('When it was last changed.'),
  stepCount: Count('Steps of the draft, or of the newest version where there is none.', 4),
  itemCount: Count('Items, likewise.', 0),
  etag: Type.String({
    description: 'What `If-Match` takes; the `ETag` of the draft.',
    examples: ['"1f0k3q9z2m"'],
  }),
  source: Type.Union(
    [
      Type.Object({
        repository: Type.String({ examples: ['acme/site'] }),
        commit: Type.String({ examples: ['1a2b3c4'] }),
        path: Type.Union([Type.String(), Type.Null()], { examples: ['flows/welcome.yaml'] }),
      }),
      Type.Null(),
    ],
    { description: 'Where it was pushed from last. Null if unknown.' },
  ),
  promotedFrom: Type.Optional(
    Type.Object(
      {
        organisation: Type.String({ examples: ['harbor-staging'] }),
        version: Type.Union([Type.Integer(), Type.Null()], { examples: [3] }),
      },
      { description: 'The organisation that it was promoted from last, and the version there.' },
    ),
  ),
  isLocked: Type.Boolean({ description: 'Whether it is changed in its repository alone.' }),
}

const definition = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])
const keys = Type.Array(Type.String())

/** A flow as its author sees it. */
const AuthoredFlow = Type.Object(flowFields)
export type AuthoredFlow = Static<typeof AuthoredFlow>

const FlowWithDefinitions = Type.Object(
  {
    ...flowFields,
    draft: Type.Optional(definition),
    published: Type.Optional(definition),
    publishedSteps: Type.Optional(keys),
    publishedItems: Type.Optional(keys),
  },
  { title: 'ListedFlow' },
)

export const ListedFlows = Type.Object(
  { flows: Type.Array(FlowWithDefinitions) },
  { title: 'ListedFlows' },
)

export const ListQuery = Type.Object({
  definitions: Type.Optional(
    Type.Literal('1', {
      description: 'What each flow is made of, too, and the keys of all parts that it ever had.',
    }),
  ),
})

export const DraftQuery = Type.Object({
  text: Type.Optional(
    Type.Literal('1', { description: 'The flow as a file, too, as "cairn flows pull" writes it.' }),
  ),
})

export const DraftAnswer = Type.Object(
  {
    ...flowFields,
    state: OneOf(['draft', 'published'], {
      description: 'Whether this is a draft, or the newest version because there is none.',
    }),
    definition: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The flow as a flow file has it, every default filled in.',
    }),
    text: Type.Optional(
      Type.String({
        description: 'Where asked for: the flow as a file, without what is filled in by default.',
        examples: ['key: welcome\nsteps:\n  - key: hello\n    title: Hello\n'],
      }),
    ),
  },
  { title: 'Draft' },
)
export type DraftAnswer = Static<typeof DraftAnswer>

export const DraftBody = WrittenFlow

export const Noted = closed({ note: Note })
export const Restored = closed({
  publish: Type.Optional(Type.Boolean({ description: 'Publish it at once.' })),
  note: Note,
})

export const PushBody = closed({
  flows: Type.Array(WrittenFlow, {
    minItems: 1,
    maxItems: 1_000,
    description: 'The flows, at most 50.',
  }),
  publish: Type.Optional(Type.Boolean({ description: 'Publish them too.' })),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'Say what would become of them, and change nothing.' }),
  ),
  source: Type.Optional(
    closed(
      {
        repository: text(1, 200, {
          description: 'Its name, as people know it.',
          examples: ['acme/site'],
        }),
        commit: Type.String({
          pattern: '^[0-9a-fA-F]{7,64}$',
          mustBe: 'a commit of 7 to 64 hexadecimal digits',
          description: 'Of the commit: seven digits or more of its hash.',
          examples: ['1a2b3c4d'],
        }),
        paths: Type.Optional(
          Type.Record(Type.String(), text(1, 500), {
            description: 'By the keys of flows: the files that they stand in.',
            examples: [{ welcome: 'flows/welcome.yaml' }],
          }),
        ),
      },
      { description: 'Where the flows come from. Shown with the flow.' },
    ),
  ),
  lock: Type.Optional(
    Type.Boolean({
      description: 'Change them by pushes alone: the editor of the dashboard refuses to.',
    }),
  ),
  note: Note,
})

const outcome = { before: Type.Union([status, Type.Null()], { description: 'The status before.' }) }

const publication = OneOf(['published', 'published again', 'already published'])

const PushedFlow = Type.Object(
  {
    ...flowFields,
    ...outcome,
    outcome: OneOf(['created', 'updated', 'unchanged']),
    publication: Type.Union([publication, Type.Null()]),
  },
  { title: 'PushedFlow' },
)
export const PushedFlows = Type.Object(
  { dryRun: Type.Boolean(), flows: Type.Array(PushedFlow) },
  { title: 'PushedFlows' },
)
export type PushedFlows = Static<typeof PushedFlows>

export const ChangedFlow = Type.Object(
  {
    ...flowFields,
    ...outcome,
    outcome: OneOf(['published', 'published again', 'already published', 'changed', 'unchanged']),
  },
  { title: 'ChangedFlow' },
)

export const StatusBody = closed({
  keys: Type.Array(Type.String({ maxLength: 64, examples: ['welcome'] }), {
    minItems: 1,
    maxItems: 1_000,
    description: 'The keys of the flows, at most 50.',
  }),
  note: Note,
})
export const ChangedFlows = Type.Object(
  { flows: Type.Array(ChangedFlow) },
  { title: 'ChangedFlows' },
)
export type ChangedFlows = Static<typeof ChangedFlows>

const Version = Type.Object({
  version: Type.Integer({ examples: [3] }),
  publishedAt: Instant('When it was published.'),
  publishedBy: Type.Union(
    [
      Type.Object({
        name: Type.String({ examples: ['Ann'] }),
        via: OneOf(['command line', 'token', 'dashboard']),
      }),
      Type.Null(),
    ],
    { description: 'Who published it; null where the audit log does not say.' },
  ),
  note: Type.Union([Type.String(), Type.Null()], { description: 'Their note.' }),
  stepCount: Count('Its steps.', 4),
  itemCount: Count('Its items.', 0),
})
export const VersionList = Type.Object({ versions: Type.Array(Version) }, { title: 'VersionList' })
export type VersionList = Static<typeof VersionList>
export const VersionAnswer = Type.Object(
  {
    version: Type.Integer({ examples: [3] }),
    publishedAt: Instant('When it was published.'),
    definition: Type.Record(Type.String(), Type.Unknown()),
  },
  { title: 'PublishedVersion' },
)
export type VersionAnswer = Static<typeof VersionAnswer>

const Side = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^(?:draft|[1-9]\\d{0,8})$',
      mustBe: '"draft" or the number of a version',
      description,
    }),
  )
export const DiffQuery = Type.Object({
  from: Side('`draft` or the number of a version; the newest version unless given.'),
  to: Side('Likewise; the draft unless given.'),
})

const PartChanges = Type.Object(
  { added: keys, returning: keys, removed: keys, moved: keys },
  { title: 'PartChanges' },
)
export const DiffAnswer = Type.Object(
  {
    steps: PartChanges,
    items: PartChanges,
    diff: Type.String({ description: 'A unified diff of the texts; empty where they are equal.' }),
  },
  { title: 'Diff' },
)
export type DiffAnswer = Static<typeof DiffAnswer>

export const ValidateBody = closed({
  text: Type.String({ description: 'A flow file.', examples: ['key: welcome\nsteps: []\n'] }),
  format: Type.Optional(OneOf(['yaml', 'json'], { description: 'YAML unless given.' })),
  normalised: Type.Optional(
    Type.Boolean({
      description: 'Return the flows too: `definitions` to save, `normalised` to show.',
    }),
  ),
})
const FlowProblem = Type.Object(
  {
    severity: OneOf(['error', 'warning']),
    code: Type.String({ examples: ['empty_flow'] }),
    path: Type.String({ description: 'A JSON pointer into the file.', examples: ['/steps'] }),
    message: Type.String({ description: 'What to do, in one sentence.' }),
    line: Type.Union([Type.Integer(), Type.Null()]),
    column: Type.Union([Type.Integer(), Type.Null()]),
  },
  { title: 'FlowProblem' },
)
export const Validated = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether there is no error; warnings may be.' }),
    flows: Type.Array(Type.String(), { description: 'The keys of the flows without an error.' }),
    problems: Type.Array(FlowProblem),
    definitions: Type.Optional(
      Type.Array(Type.Unsafe<FlowDefinition>(FlowDefinition), {
        examples: [[]],
        description:
          'With `normalised`: these flows with every default filled in, to be saved as drafts.',
      }),
    ),
    normalised: Type.Optional(
      Type.Array(Flow, {
        examples: [[]],
        description:
          'With `normalised`: what pages would get of these flows, with keys in place of ids.',
      }),
    ),
  },
  { title: 'Validated' },
)
export type Validated = Static<typeof Validated>

export const SchemaAnswer = Type.Record(Type.String(), Type.Unknown(), {
  title: 'FlowFileSchema',
  description: 'A JSON Schema, draft 7.',
})

export const PinBody = closed({
  flow: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The key of one flow alone.' }),
  ),
  step: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The key of one of its steps alone.' }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Say what would be taken over.' })),
})
const PinnedStep = Type.Object(
  {
    flow: Type.String({ examples: ['welcome'] }),
    step: Type.String({ examples: ['create'] }),
    selector: Type.String({ examples: ['[data-test=new-project]'] }),
    outcome: OneOf(['pinned', 'already pinned', 'no baseline', 'draft differs', 'says too little']),
    baselineAt: InstantOrNull('When the baseline was taken.'),
    locale: Type.Union([Type.String({ examples: ['en'] }), Type.Null()]),
    looks: Type.Object(
      { alike: Count('Looks like the baseline.', 9), of: Count('All looks.', 10) },
      { description: 'Fingerprints of the last 24 hours.' },
    ),
    fingerprint: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  },
  { title: 'PinnedStep' },
)
export const PinAnswer = Type.Object(
  { dryRun: Type.Boolean(), steps: Type.Array(PinnedStep) },
  { title: 'Pins' },
)
export type PinAnswer = Static<typeof PinAnswer>
export type PinnedStep = Static<typeof PinnedStep>

export const RepairBody = closed({
  selector: Type.Optional(
    text(1, 1_000, {
      description: 'The selector to take; what fingerprints or reports suggest, unless given.',
      examples: ['[data-test=new-project]'],
    }),
  ),
  alone: Type.Optional(
    Type.Boolean({
      description:
        'The selector that you give finds the element by itself: `nth`, which was counted among what the ' +
        'one before finds, is taken away.',
    }),
  ),
  note: Note,
})
export const RepairAnswer = Type.Object(
  {
    step: Type.String({ examples: ['create'] }),
    outcome: OneOf(['repaired', 'unchanged']),
    suggestedBy: Type.Union([OneOf(['fingerprints', 'reports']), Type.Null()], {
      description: 'What said that pages find the element by it; null where you gave it.',
    }),
    before: Type.String({ description: 'The selector before.', examples: ['#new-project'] }),
    selector: Type.String({
      description: 'The selector that the draft has.',
      examples: ['[data-test=new-project]'],
    }),
    flow: Type.Object(flowFields),
  },
  { title: 'Repair' },
)
export type RepairAnswer = Static<typeof RepairAnswer>
