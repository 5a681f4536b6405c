import type { Explanation } from '../../../modules/flows/schema.ts'
import { may } from '../api/session.ts'
import { Badge } from '../parts/badge.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { addressOf, useFilters } from '../shell/address.ts'

export type { Explanation }

type Rule = Explanation['rules'][number]

export const ruleNames: Readonly<Record<Rule['rule'], string>> = {
  key: 'Snippet key',
  origin: 'Origin',
  published: 'Published',
  url: 'Page address',
  audience: 'Audience',
  schedule: 'Schedule',
  rollout: 'Share of people',
  after: 'After another flow',
  event: 'Event',
  delay: 'Delay',
  trigger: 'Trigger',
  throttle: 'Frequency cap',
  element: 'Element first',
  frequency: 'How often',
  priority: 'Priority',
  target: 'Element',
  identify: 'Identification',
}

const ruleMeanings: Readonly<Record<Rule['rule'], string>> = {
  key: 'Pages need a current snippet key.',
  origin: 'The page must be on an allowed origin.',
  published: 'Only published flows are shown.',
  url: 'The address must match the flow’s pages.',
  audience: 'The person’s traits must match the flow’s audience.',
  schedule: 'New runs start only within the schedule.',
  rollout: 'The flow is shown to a share of people. Some of them may be held out.',
  after: 'They must have completed another flow first.',
  event: 'They must have caused an event, as often and as recently as the flow requires.',
  delay: 'They must have been on the page for a while.',
  trigger: 'They must do what starts the flow.',
  throttle: 'Maximum tours and announcements per person in 24 hours.',
  element: 'An element must be visible on the page before the flow starts.',
  frequency: 'Their earlier runs must allow the flow to start again.',
  priority: 'Only one flow interrupts a page at a time: the one with the highest priority.',
  target: 'The step’s element must be on the page.',
  identify: 'Some pages wait until the person is identified.',
}

export const unknownVerdict = ({ unreported }: Explanation): string =>
  `Unknown: this person has not reported ${unreported.join(', ')}`

/** Whether nothing speaks against the flow, but it depends on what the person never reported. */
export const isUnknown = ({ unreported, rules }: Explanation): boolean =>
  unreported.length > 0 && rules.every(({ holds }) => holds !== false)

export const verdictOf = (explanation: Explanation): string => {
  if (isUnknown(explanation)) return 'Unknown'
  return explanation.shown ? 'Shown' : 'Not shown'
}

const kindOf = (holds: boolean | null) => (holds === null ? 'unknown' : holds ? 'holds' : 'fails')
const outcomes = { holds: 'Passed', fails: 'Failed', unknown: 'Unknown' }
const toneOf = { holds: 'good', fails: 'bad', unknown: '' }
const iconOf = { holds: 'done', fails: 'close', unknown: 'info' } as const

function RuleRow({ rule, holds, why, parts }: Rule) {
  const kind = kindOf(holds)
  return (
    <li class={toneOf[kind]}>
      <Icon name={iconOf[kind]} />
      <h3>
        {ruleNames[rule]} <span class="unseen">{outcomes[kind]}</span>
      </h3>
      <div>
        <p>{why}</p>
        {parts.length > 0 && (
          <ul class="stack gap-1 fine">
            {parts.map(part => (
              <li key={part.why} class={`line start ${holds ? '' : toneOf[kindOf(part.holds)]}`}>
                <Icon name={iconOf[kindOf(part.holds)]} size={14} />
                <span class="unseen">{outcomes[kindOf(part.holds)]}</span>
                <span>{part.why}</span>
              </li>
            ))}
          </ul>
        )}
        {holds !== true && <p class="hint">{ruleMeanings[rule]}</p>}
      </div>
    </li>
  )
}

function History({ person: { userId, anonymousId, history } }: Explanation) {
  if (userId === null && anonymousId === null) return <>New visitor, who has seen no flow.</>
  const { runs, inProgress, completedAt } = history
  const state = inProgress ? 'unfinished' : completedAt ? 'completed' : 'dismissed'
  return (
    <>
      <code>{userId ?? anonymousId}</code>
      {runs === 0
        ? ' has never seen it.'
        : `: ${runs} ${runs === 1 ? 'run' : 'runs'} before, the latest ${state}.`}
    </>
  )
}

/** The verdict on one flow, and every condition in the order in which they are checked. */
export function FlowExplanation({
  explanation,
  nameOf,
}: {
  explanation: Explanation
  /** The name of the flow with this key. */
  nameOf: (key: string) => string
}) {
  const { withFilters } = useFilters()
  const { shown, flow, person, rules, instead } = explanation
  const unknown = isUnknown(explanation)
  const { userId, anonymousId } = person
  const who = userId !== null ? { user: userId } : { anonymous: anonymousId }
  const name = nameOf(flow.key)
  return (
    <section class="part">
      <div class="verdict row card below-4">
        <h2>
          {unknown
            ? unknownVerdict(explanation)
            : shown
              ? `${name} is shown`
              : `${name} is not shown`}
        </h2>
        <span class="row gap-1">
          <Badge tone={shown ? 'good' : unknown ? 'neutral' : 'bad'}>
            {verdictOf(explanation)}
          </Badge>
          {flow.status === 'published' && flow.version !== null ? (
            <Badge>v{flow.version}</Badge>
          ) : (
            <Badge>Draft</Badge>
          )}
          {flow.hasDraft && flow.status === 'published' && (
            <Badge tone="accent">Unpublished draft</Badge>
          )}
        </span>
        {unknown && (
          <p>
            Whether they see the flow depends on this. Add the trait in Settings, and send it with
            identify().
          </p>
        )}
        {instead !== null && (
          <p>
            {nameOf(instead)} is shown instead.{' '}
            <a href={withFilters({ flow: instead })}>Check that flow</a>
          </p>
        )}
      </div>
      <ol class="rules">
        {rules.map(rule => (
          <RuleRow key={rule.rule} {...rule} />
        ))}
      </ol>
      <div class="part-head">
        <p class="hint">
          <History {...explanation} />
        </p>
        {(userId ?? anonymousId) !== null && may('people:read') && (
          <LinkButton icon="person" href={addressOf(['people'], who)}>
            See person
          </LinkButton>
        )}
      </div>
    </section>
  )
}
