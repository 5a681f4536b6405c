import { type Static, Type } from '@sinclair/typebox'
import { closed, eventName, key, localTime, text, timeSpan, zoneName } from './values.ts'

/** When a flow begins, and for how many people. Fields that a flow does not set are absent everywhere. */

/** The times between which new runs begin. */
export const Schedule = closed(
  {
    from: Type.Optional(
      localTime(
        'When the flow begins to be shown: a day, 2026-12-01, or a time, 2026-12-01T09:00.',
      ),
    ),
    to: Type.Optional(
      localTime(
        'When it begins for nobody any more: a day, which is the last one, or a time. Who is in the middle of it may finish it.',
      ),
    ),
    timezone: zoneName('The IANA zone of these times, such as Europe/Berlin.'),
  },
  {
    description: 'Between which times the flow is shown. Without one, as long as it is published.',
  },
)
export type Schedule = Static<typeof Schedule>

/** The most occurrences of an event that a flow can wait for. This many are kept for each person. */
const maxCounted = 50

/** What must have happened before a new run begins. */
export const When = closed(
  {
    delayMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3_600_000,
        description: 'How long the person must have been on the page, in milliseconds.',
      }),
    ),
    after: Type.Optional(
      key('Another flow, by its key, that the person must have completed; it has to be published.'),
    ),
    event: Type.Optional(
      eventName({ description: 'Name of a custom event, which the person must have caused.' }),
    ),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxCounted,
        description: 'How often they must have caused it; defaults to once.',
      }),
    ),
    within: Type.Optional(timeSpan('How lately: 30m, 24h or 7d before now. Without it, ever.')),
    element: Type.Optional(
      text(1, 1_000, { description: 'CSS selector of an element that must be seen on the page.' }),
    ),
  },
  { description: 'What must have happened before the flow begins: all that is said here.' },
)
export type When = Static<typeof When>

/** For what share of its audience a flow begins. */
export const Rollout = closed(
  {
    percent: Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 100,
      description: 'How many percent of people see it: always the same ones.',
    }),
    holdOut: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 90,
        description:
          'How many percent of those who would see it are held back, and counted: what they do without it shows what it changes.',
      }),
    ),
  },
  { description: 'For how many people the flow is: everybody, unless set here.' },
)
export type Rollout = Static<typeof Rollout>

/** What a flow should get people to do. */
export const Goal = closed(
  {
    event: eventName({
      description: 'Name of the custom event by which they have done it.',
    }),
  },
  {
    description:
      'What the flow is to bring people to do. With rollout.holdOut, analytics compare how many of those who saw it did so, and of those held back.',
  },
)
export type Goal = Static<typeof Goal>
