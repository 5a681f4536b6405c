import { textIn } from './flow-json.ts'
import type { Group } from './table.ts'

/** When a flow starts, and for how many people. */
export const scheduleAndRollout: readonly Group[] = [
  {
    title: 'Schedule',
    help: 'Without a schedule, the flow is shown for as long as it is published.',
    fields: [
      { at: 'schedule.from', label: 'From', as: 'moment' },
      {
        at: 'schedule.to',
        label: 'To',
        as: 'moment',
        help: 'Last day or time for new runs. People already in the flow can finish it.',
      },
      {
        at: 'schedule.timezone',
        label: 'Time zone',
        as: 'zone',
        shown: ({ schedule }) => schedule !== undefined,
      },
    ],
  },
  {
    title: 'Start conditions',
    help: 'All of them must be met before the flow starts.',
    fields: [
      [
        {
          at: 'when.trigger.on',
          label: 'Starts',
          as: 'choice',
          none: 'By itself',
          names: { click: 'On a click', event: 'On an event' },
          only: { click: ['when.trigger.element'], event: ['when.trigger.event'] },
        },
        {
          at: 'when.trigger.element',
          label: 'Element to click',
          as: 'element',
          shown: flow => textIn(flow, 'when.trigger.on') === 'click',
        },
        {
          at: 'when.trigger.event',
          label: 'Event',
          help: 'The name of an event that your page sends. It starts the flow at once.',
          placeholder: 'report_created',
          shown: flow => textIn(flow, 'when.trigger.on') === 'event',
        },
      ],
      { at: 'when.delayMs', label: 'Time on the page', unit: 'seconds', as: 'seconds' },
      {
        at: 'when.after',
        label: 'After another flow',
        as: 'flow',
        help: 'The person must have completed that flow.',
      },
      {
        at: 'when.event',
        label: 'Earlier event',
        help: 'The person must have caused this event before.',
        placeholder: 'report_created',
      },
      { at: 'when.count', label: 'How many times', as: 'number', placeholder: '1' },
      { at: 'when.within', label: 'Within the last', as: 'span' },
      {
        at: 'when.element',
        label: 'Element that must be visible',
        as: 'element',
      },
    ],
  },
  {
    title: 'Rollout',
    fields: [
      [
        {
          at: 'rollout.percent',
          label: 'Share of people',
          unit: '%',
          as: 'number',
          help: 'The same people see it each time.',
        },
        {
          at: 'rollout.holdOut',
          label: 'Hold-out group',
          unit: '%',
          as: 'number',
          help: 'Part of these people do not see the flow, so that results show what it changes.',
        },
      ],
      {
        at: 'goal.event',
        label: 'Goal',
        clears: 'goal',
        help: 'The event that shows that the flow has worked.',
        placeholder: 'project_created',
      },
    ],
  },
]
