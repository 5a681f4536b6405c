import { type Static, Type } from '@sinclair/typebox'
import { rejectionCodes } from '../../core/event/event.ts'
import {
  Count,
  Instant,
  InstantOrNull,
  OneOf,
  OrNull,
  PersonFields,
  Text,
} from '../../core/shapes.ts'
import { presenceStages } from '../../storage/interfaces/installation.ts'

export const HeartbeatQuery = Type.Object({
  ...PersonFields,
  progressVersion: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'Where a person is named: the one that the page was told last, if it was told one.',
      examples: ['1k2f9x3'],
    }),
  ),
  v: Type.Optional(
    Type.String({ maxLength: 64, description: "The snippet's version.", examples: ['1.4.0'] }),
  ),
  url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      description: "The page's address; not kept.",
      examples: ['https://app.example.com/projects'],
    }),
  ),
  sid: Type.Optional(
    Type.String({ maxLength: 64, description: 'The session; not kept.', examples: ['s1'] }),
  ),
})

export const Heartbeat = Type.Object(
  {
    status: Type.Literal('ok'),
    serverTime: Instant("The server's clock."),
    flowsVersion: Text('That of `GET /flows`: fetch the flows anew when it changes.', '2v8k0m1c7d'),
    nextHeartbeatSeconds: Type.Integer({
      minimum: 1,
      description:
        'When to send the next. Where a person is named as soon as the limit lets it be, with all pages that ask.',
      examples: [300],
    }),
    progressVersion: Type.Optional(
      Text(
        'Where a person is named: another one whenever an item of theirs is ticked or taken back, or a flow completed.',
        '1k2f9x3',
      ),
    ),
  },
  { title: 'Heartbeat' },
)
export type Heartbeat = Static<typeof Heartbeat>

const Stage = Type.Object({
  stage: OneOf(presenceStages),
  firstAt: InstantOrNull('When it was first seen.'),
  lastAt: InstantOrNull('When it was last seen; some seconds of it can be lost in a crash.'),
})

/** What is wrong with an installation, and what to do about it. */
export const InstallationFinding = Type.Object(
  {
    severity: OneOf(['info', 'warning', 'error'], { examples: ['warning'] }),
    code: Type.String({ examples: ['no_events'] }),
    message: Text('What is wrong.', 'Flows are fetched, but no event was ever accepted.'),
    fix: Text(
      'What to do about it.',
      'Show a published flow on a page, and look for refused requests in its network log.',
    ),
  },
  { title: 'Finding' },
)
export type InstallationFinding = Static<typeof InstallationFinding>

/** The same for those who manage the organisation. */
const DatedFinding = Type.Object(
  {
    ...InstallationFinding.properties,
    since: InstantOrNull(
      'When it was first seen: of what is counted, the hour from which on it has gone on, with less than a day between, 30 days at most; null where that is not known.',
    ),
  },
  { title: 'DatedFinding' },
)

const statusFields = {
  state: OneOf(['never_seen', 'active', 'quiet', 'stale', 'misconfigured'], {
    description:
      'Active within five minutes, quiet within a day, then stale; misconfigured where a finding ' +
      'is an error.',
    examples: ['active'],
  }),
  installed: Type.Boolean({ description: 'Flows were fetched, or a heartbeat came.' }),
  firstSeenAt: InstantOrNull('When anything was first seen.'),
  lastSeenAt: InstantOrNull('When anything was last seen.'),
  stages: Type.Array(Stage, { description: 'How far the installation has come.' }),
  snippetVersion: OrNull(Type.String(), 'As reported by the last heartbeat.', '1.4.0'),
  skewMsMedian: OrNull(
    Type.Number(),
    "How far senders' clocks are off, in the middle of the latest.",
    40,
  ),
  rejected24h: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: `Events rejected in the last 24 hours, by code: ${rejectionCodes.join(', ')}.`,
    examples: [{ unknown_step: 2 }],
  }),
  findings: Type.Array(InstallationFinding, {
    description: 'What is wrong, and what to do about it.',
  }),
}

export const SnippetStatus = Type.Object(statusFields, { title: 'SnippetStatus' })
export type SnippetStatus = Static<typeof SnippetStatus>

export const Installation = Type.Object(
  {
    ...statusFields,
    findings: Type.Array(DatedFinding, {
      description: 'What is wrong, what to do about it, and since when.',
    }),
    snippetKey: Type.Union([Type.String(), Type.Null()], {
      description:
        'The key that pages use now; null where there is none. Whoever views a page has it.',
      examples: ['u1Qe7VbTn8Rk0cXw4sWq9xLm2KpZf6Hd'],
    }),
    snippet: Type.Object(
      {
        file: Type.String({ examples: ['snippet-5f3a9c1e.js'] }),
        integrity: Type.String({ examples: ['sha384-oqVuAfXRKap7fdgcCY5uykM6'] }),
      },
      {
        description:
          "This version's script, for pages that want no other, and what browsers verify it by.",
      },
    ),
    publicUrl: Type.Union([Type.String(), Type.Null()], {
      description: 'Where browsers reach this server, if its operator has said so.',
      examples: ['https://cairn.example.com'],
    }),
    erased24h: Count(
      'Reports of people who were erased, in the last 24 hours: they are not kept.',
      0,
    ),
  },
  { title: 'Installation' },
)
export type Installation = Static<typeof Installation>
