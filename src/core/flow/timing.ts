import { type Static, Type } from '@sinclair/typebox'
import { closed, eventName, key, localTime, oneOf, text, timeSpan, zoneName } from './values.ts'

/** When a flow begins, and for how many people. Fields that a flow does not set are absent everywhere. */

/** The times between which new runs begin. */
export const Schedule = closed(
  {
    from: Type.Optional(
      localTime(
        'When the flow starts being shown: a day, 2026-12-01, or a time, 2026-12-01T09:00.',
      ),
    ),
    to: Type.Optional(
      localTime(
        'When the flow stops being shown: a day, which is included, or a time. People who have started it can finish it.',
      ),
    ),
    timezone: zoneName('IANA time zone of these times, such as Europe/Berlin.'),
  },
  {
    description: 'When the flow is shown. Without a schedule, as long as it is published.',
  },
)
export type Schedule = Static<typeof Schedule>

/** The most occurrences of an event that a flow can wait for. This many are kept for each person. */
const maxCounted = 50

/** What a person does that starts a flow. A page does not start a flow whose trigger it does not know. */
export const Trigger = closed(
  {
    on: oneOf(
      { click: 'the person clicks the element', event: 'the page tracks the event' },
      { description: 'What starts the flow.' },
    ),
    element: Type.Optional(
      text(1, 1_000, { description: 'CSS selector of the element, for "on: click".' }),
    ),
    event: Type.Optional(eventName({ description: 'Name of the event, for "on: event".' })),
  },
  {
    description:
      'Starts the flow at the moment when this happens, if everything else about the flow allows ' +
      'it then. Without it, the flow starts by itself.',
  },
)
export type Trigger = Static<typeof Trigger>

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
    after: Type.Optional(key('Key of another published flow that the person must have completed.')),
    event: Type.Optional(
      eventName({ description: 'Name of a custom event that the person must have caused.' }),
    ),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxCounted,
        description: 'How often they must have caused it. Defaults to 1.',
      }),
    ),
    within: Type.Optional(
      timeSpan('How recently: in the last 30m, 24h or 7d. Without it, at any time.'),
    ),
    element: Type.Optional(
      text(1, 1_000, {
        description: 'CSS selector of an element that must be visible on the page.',
      }),
    ),
    trigger: Type.Optional(Trigger),
  },
  { description: 'What must have happened before the flow starts. All conditions must be met.' },
)
export type When = Static<typeof When>

/** For what share of its audience a flow begins. */
export const Rollout = closed(
  {
    percent: Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 100,
      description: 'Percentage of people who see it. They are always the same ones.',
    }),
    holdOut: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 90,
        description:
          'Percentage of those people who are held out and do not see it. Comparing them with the others shows what the flow changes.',
      }),
    ),
  },
  { description: 'Share of people who see the flow. Defaults to everybody.' },
)
export type Rollout = Static<typeof Rollout>

/** What a flow should get people to do. */
export const Goal = closed(
  {
    event: eventName({
      description: 'Name of the custom event that shows that they have done it.',
    }),
  },
  {
    description:
      'What the flow should get people to do. With `rollout.holdOut`, results compare people who saw the flow with those who were held out.',
  },
)
export type Goal = Static<typeof Goal>
