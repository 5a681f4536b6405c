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
import { presenceStages } from '../../storage/interfaces/gate.ts'

export const HeartbeatQuery = Type.Object({
  ...PersonFields,
  progressVersion: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'If the request names a person: the `progressVersion` of the last response.',
      examples: ['1k2f9x3'],
    }),
  ),
  v: Type.Optional(
    Type.String({ maxLength: 64, description: "The snippet's version.", examples: ['1.4.0'] }),
  ),
  url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      description: 'URL of the page. Not stored.',
      examples: ['https://app.example.com/projects'],
    }),
  ),
  sid: Type.Optional(
    Type.String({ maxLength: 64, description: 'Session ID. Not stored.', examples: ['s1'] }),
  ),
})

export const Heartbeat = Type.Object(
  {
    status: Type.Literal('ok'),
    serverTime: Instant("The server's clock."),
    flowsVersion: Text(
      'Version of `GET /flows`. Fetch the flows again when it changes.',
      '2v8k0m1c7d',
    ),
    nextHeartbeatSeconds: Type.Integer({
      minimum: 1,
      description:
        'In how many seconds to send the next heartbeat. Less if the request names a person, as far as the limit allows.',
      examples: [300],
    }),
    progressVersion: Type.Optional(
      Text(
        'If the request names a person. Changes whenever an item of theirs is ticked or unticked, or a flow is completed.',
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
  lastAt: InstantOrNull('When it was last seen. A crash can lose the last seconds.'),
})

/** What is wrong with an installation, and what to do about it. */
export const InstallationFinding = Type.Object(
  {
    severity: OneOf(['info', 'warning', 'error'], { examples: ['warning'] }),
    code: Type.String({ examples: ['no_events'] }),
    message: Text('What is wrong.', 'Flows are fetched, but no event has arrived.'),
    fix: Text(
      'What to do about it.',
      'Open a page on which a published flow is shown, and look for failed requests in its network log.',
    ),
  },
  { title: 'Finding' },
)
export type InstallationFinding = Static<typeof InstallationFinding>

const DatedFinding = Type.Object(
  {
    ...InstallationFinding.properties,
    since: InstantOrNull(
      'When it began, at most 30 days ago. To the hour for what is counted by the hour. Null if unknown.',
    ),
  },
  { title: 'DatedFinding' },
)

const statusFields = {
  state: OneOf(['never_seen', 'active', 'quiet', 'stale', 'misconfigured'], {
    description:
      '`active`: seen in the last five minutes. `quiet`: in the last day. `stale`: before that. ' +
      '`misconfigured`: a finding is an error.',
    examples: ['active'],
  }),
  installed: Type.Boolean({ description: 'Whether a page has fetched flows or sent a heartbeat.' }),
  firstSeenAt: InstantOrNull('When anything was first seen.'),
  lastSeenAt: InstantOrNull('When anything was last seen.'),
  stages: Type.Array(Stage, { description: 'Stages of the installation.' }),
  snippetVersion: OrNull(Type.String(), 'As reported by the last heartbeat.', '1.4.0'),
  skewMsMedian: OrNull(
    Type.Number(),
    "Median difference between senders' clocks and the server's, in milliseconds.",
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

export const Installation = Type.Object(
  {
    ...statusFields,
    findings: Type.Array(DatedFinding, {
      description: 'What is wrong, what to do about it, and since when.',
    }),
    snippetKey: Type.Union([Type.String(), Type.Null()], {
      description:
        'The current snippet key. It is public: every page contains it. Null if there is none.',
      examples: ['u1Qe7VbTn8Rk0cXw4sWq9xLm2KpZf6Hd'],
    }),
    snippet: Type.Object(
      {
        file: Type.String({ examples: ['snippet-5f3a9c1e.js'] }),
        integrity: Type.String({ examples: ['sha384-oqVuAfXRKap7fdgcCY5uykM6'] }),
      },
      {
        description:
          'Script of this version, for pages that pin a version, and its integrity hash.',
      },
    ),
    publicUrl: Type.Union([Type.String(), Type.Null()], {
      description: 'URL at which browsers reach this server. Null if not configured.',
      examples: ['https://cairn.example.com'],
    }),
    erased24h: Count('Reports about erased people in the last 24 hours. They are not stored.', 0),
  },
  { title: 'Installation' },
)
export type Installation = Static<typeof Installation>
