import { type Static, type StaticDecode, Type } from '@sinclair/typebox'
import type { FlowFingerprint } from '../../core/flow/fingerprint.ts'
import { Flow, FlowDefinition, flowKinds, flowStatuses } from '../../core/flow/flow.ts'
import { closed, text } from '../../core/flow/values.ts'
import { Count, FlowId, Instant, InstantOrNull, OneOf, OrNull, Text } from '../../core/shapes.ts'
import { VersionRecord } from '../../storage/interfaces/authoring.ts'

/** Bounds of one call, so that validating its flows does not hold up others. */
export const maxFlowsACall = 50
export const maxBytesACall = 1_048_576

/**
 * A flow as in a flow file. It is validated by the rules of flow files, whose messages are better than a
 * schema's.
 */
export const WrittenFlow = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'A flow as in a flow file. "cairn flows schema" prints the schema. Fields that are left out get their default.',
  examples: [{ key: 'welcome', steps: [{ key: 'hello', title: 'Hello' }] }],
})

export const Note = Type.Optional(
  text(0, 1_000, { description: 'Why, for the audit log.', examples: ['For the spring release'] }),
)

const status = OneOf(flowStatuses)
const Definition = Type.Unsafe<FlowDefinition>(
  Type.Record(Type.String(), Type.Unknown(), {
    description: 'The flow as in a flow file, with every default filled in.',
  }),
)

const flowFields = {
  id: FlowId,
  key: Type.String({ examples: ['welcome'] }),
  name: Type.String({ examples: ['Welcome tour'] }),
  kind: OneOf(flowKinds),
  status,
  version: OrNull(Type.Integer(), 'The newest published version. Null if never published.', 3),
  publishedAt: InstantOrNull('When the newest version was published.'),
  hasDraft: Type.Boolean({ description: 'Whether the draft is newer than the newest version.' }),
  updatedAt: Instant('When it was last changed.'),
  stepCount: Count('Number of steps of the draft, or of the newest version without a draft.', 4),
  itemCount: Count('Number of items of a checklist or launcher, counted like steps.', 0),
  etag: Text('The `ETag` of the draft, to be sent as `If-Match`.', '"1f0k3q9z2m"'),
  source: OrNull(
    Type.Object({
      repository: Type.String({ examples: ['acme/site'] }),
      commit: Type.String({ examples: ['1a2b3c4'] }),
      path: Type.Union([Type.String(), Type.Null()], { examples: ['flows/welcome.yaml'] }),
    }),
    'Where it was last pushed from. Null if unknown.',
  ),
  promotedFrom: Type.Optional(
    Type.Object(
      {
        organisation: Type.String({ examples: ['harbor-staging'] }),
        version: Type.Union([Type.Integer(), Type.Null()], { examples: [3] }),
      },
      { description: 'The organisation that it was last promoted from, and the version there.' },
    ),
  ),
  isLocked: Type.Boolean({ description: 'Whether it can only be changed in its repository.' }),
}

const keys = Type.Array(Type.String())

/** A flow as its author sees it. */
const AuthoredFlow = Type.Object(flowFields)
export type AuthoredFlow = Static<typeof AuthoredFlow>
/** The same in code. */
export type FlowRecord = StaticDecode<typeof AuthoredFlow>

const ListedFlow = Type.Object(
  {
    ...flowFields,
    draft: Type.Optional(Type.Union([Definition, Type.Null()])),
    published: Type.Optional(Type.Union([Definition, Type.Null()])),
    publishedSteps: Type.Optional(keys),
    publishedItems: Type.Optional(keys),
  },
  { title: 'ListedFlow' },
)

export const ListedFlows = Type.Object({ flows: Type.Array(ListedFlow) }, { title: 'ListedFlows' })

export const ListQuery = Type.Object({
  definitions: Type.Optional(
    Type.Literal('1', {
      description:
        'Include the definitions of each flow, and the keys of all parts that it ever had.',
    }),
  ),
})

export const DraftQuery = Type.Object({
  text: Type.Optional(
    Type.Literal('1', {
      description: 'Include the flow as a file, as "cairn flows pull" writes it.',
    }),
  ),
})

export const DraftAnswer = Type.Object(
  {
    ...flowFields,
    state: OneOf(['draft', 'published'], {
      description:
        '`draft`, or `published` if this is the newest version because there is no draft.',
    }),
    definition: Definition,
    text: Type.Optional(
      Text(
        'With `text=1`: the flow as a file, without defaults.',
        'key: welcome\nsteps:\n  - key: hello\n    title: Hello\n',
      ),
    ),
  },
  { title: 'Draft' },
)
export type DraftAnswer = Static<typeof DraftAnswer>

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
    Type.Boolean({ description: 'Return the outcome of each, and change nothing.' }),
  ),
  source: Type.Optional(
    closed(
      {
        repository: text(1, 200, {
          description: 'Name of the repository.',
          examples: ['acme/site'],
        }),
        commit: Type.String({
          pattern: '^[0-9a-fA-F]{7,64}$',
          mustBe: 'a commit of 7 to 64 hexadecimal digits',
          description: 'Hash of the commit, seven digits or more.',
          examples: ['1a2b3c4d'],
        }),
        paths: Type.Optional(
          Type.Record(Type.String(), text(1, 500), {
            description: 'Paths of files in the repository, by the key of the flow that each has.',
            examples: [{ welcome: 'flows/welcome.yaml' }],
          }),
        ),
      },
      { description: 'Where the flows come from. Shown with each flow.' },
    ),
  ),
  lock: Type.Optional(
    Type.Boolean({
      description:
        'Allow changes only by pushes. The dashboard shows the flows without editing them.',
    }),
  ),
  note: Note,
})

const before = OrNull(status, 'The status before. Null for a new flow.')

const PushedFlow = Type.Object(
  {
    ...flowFields,
    before,
    outcome: OneOf(['created', 'updated', 'unchanged']),
    publication: OrNull(
      OneOf(['published', 'published again', 'already published']),
      'What publishing did. Null without `publish`.',
    ),
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
    before,
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

export const VersionList = Type.Object(
  { versions: Type.Array(VersionRecord) },
  { title: 'VersionList' },
)
export type VersionList = Static<typeof VersionList>
export const VersionAnswer = Type.Object(
  {
    version: Type.Integer({ examples: [3] }),
    publishedAt: Instant('When it was published.'),
    definition: Definition,
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
  from: Side('`draft` or the number of a version. Defaults to the newest version.'),
  to: Side('`draft` or the number of a version. Defaults to the draft.'),
})

const PartChanges = Type.Object(
  { added: keys, returning: keys, removed: keys, moved: keys },
  { title: 'PartChanges' },
)
export const DiffAnswer = Type.Object(
  {
    steps: PartChanges,
    items: PartChanges,
    diff: Type.String({ description: 'A unified diff of the texts. Empty if they are equal.' }),
  },
  { title: 'Diff' },
)
export type DiffAnswer = Static<typeof DiffAnswer>

export const ValidateBody = closed({
  text: Type.String({ description: 'A flow file.', examples: ['key: welcome\nsteps: []\n'] }),
  format: Type.Optional(
    OneOf(['yaml', 'json'], { description: 'Format of the text. Defaults to YAML.' }),
  ),
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
    message: Type.String({ description: 'What is wrong and how to fix it.' }),
    line: Type.Union([Type.Integer(), Type.Null()]),
    column: Type.Union([Type.Integer(), Type.Null()]),
  },
  { title: 'FlowProblem' },
)
export const Validated = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether there are no errors. There may be warnings.' }),
    flows: Type.Array(Type.String(), { description: 'Keys of the flows without an error.' }),
    problems: Type.Array(FlowProblem),
    definitions: Type.Optional(
      Type.Array(Type.Unsafe<FlowDefinition>(FlowDefinition), {
        examples: [[]],
        description:
          'With `normalised`: these flows with every default filled in, to be saved as drafts.',
      }),
    ),
    normalised: Type.Optional(
      Type.Array(Type.Unsafe<Flow>(Flow), {
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
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Pin only the steps of this flow, by its key.',
    }),
  ),
  step: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Pin only this step of the flow, by its key.',
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'Return the outcome of each step, and change nothing.' }),
  ),
})
export const PinnedStep = Type.Object(
  {
    flow: Type.String({ examples: ['welcome'] }),
    step: Type.String({ examples: ['create'] }),
    selector: Type.String({ examples: ['[data-test=new-project]'] }),
    outcome: OneOf(['pinned', 'already pinned', 'no baseline', 'draft differs', 'says too little']),
    baselineAt: InstantOrNull('When the baseline was taken.'),
    locale: Type.Union([Type.String({ examples: ['en'] }), Type.Null()]),
    looks: Type.Object(
      { alike: Count('Those that match the baseline.', 9), of: Count('All of them.', 10) },
      { description: 'Fingerprints of the last 24 hours.' },
    ),
    fingerprint: OrNull(
      Type.Unsafe<FlowFingerprint>(Type.Record(Type.String(), Type.Unknown())),
      'What the draft remembers of the element.',
    ),
  },
  { title: 'PinnedStep' },
)
export const PinAnswer = Type.Object(
  { dryRun: Type.Boolean(), steps: Type.Array(PinnedStep) },
  { title: 'Pins' },
)
export type PinAnswer = Static<typeof PinAnswer>
export type PinnedStep = Static<typeof PinnedStep>
/** The same in code. */
export type Pin = StaticDecode<typeof PinnedStep>

export const RepairBody = closed({
  selector: Type.Optional(
    text(1, 1_000, {
      description: 'The selector to use. Defaults to the one that pages suggest.',
      examples: ['[data-test=new-project]'],
    }),
  ),
  alone: Type.Optional(
    Type.Boolean({
      description:
        'Set this if the selector finds one element. `nth`, which counts matches of the previous selector, is then removed.',
    }),
  ),
  note: Note,
})
export const RepairAnswer = Type.Object(
  {
    step: Type.String({ examples: ['create'] }),
    outcome: OneOf(['repaired', 'unchanged']),
    suggestedBy: OrNull(
      OneOf(['fingerprints', 'reports']),
      'How pages found the element by it. Null if you sent the selector.',
    ),
    before: Text('The selector before.', '#new-project'),
    selector: Text('The selector in the draft now.', '[data-test=new-project]'),
    flow: AuthoredFlow,
  },
  { title: 'Repair' },
)
export type RepairAnswer = Static<typeof RepairAnswer>
