import type { Explanation } from '../../../modules/flows/schema.ts'
import { may } from '../api/session.ts'
import { Badge } from '../parts/badge.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { explainWords as words } from '../words/explain.ts'

export type { Explanation }

type Rule = Explanation['rules'][number]

/** Whether nothing speaks against the flow, but it depends on what the person never reported. */
export const isUnknown = ({ unreported, rules }: Explanation): boolean =>
  unreported.length > 0 && rules.every(({ holds }) => holds !== false)

export const verdictOf = (explanation: Explanation): string => {
  if (isUnknown(explanation)) return words.isUnknown
  return explanation.shown ? words.isShown : words.isNotShown
}

const kindOf = (holds: boolean | null) => (holds === null ? 'unknown' : holds ? 'holds' : 'fails')
const iconOf = { holds: 'done', fails: 'close', unknown: 'info' } as const

function RuleRow({ rule, holds, why, parts }: Rule) {
  const kind = kindOf(holds)
  return (
    <li class={kind}>
      <Icon name={iconOf[kind]} />
      <h3>
        {words.rules[rule]} <span class="unseen">{words[kind]}</span>
      </h3>
      <div>
        <p>{why}</p>
        {parts.length > 0 && (
          <ul class="parts">
            {parts.map(part => (
              <li key={part.why} class={kindOf(part.holds)}>
                <Icon name={iconOf[kindOf(part.holds)]} size={14} />
                <span class="unseen">{words[kindOf(part.holds)]}</span>
                <span>{part.why}</span>
              </li>
            ))}
          </ul>
        )}
        {holds !== true && <p class="hint">{words.ruleMeans[rule]}</p>}
      </div>
    </li>
  )
}

function History({ person: { userId, anonymousId, history } }: Explanation) {
  if (userId === null && anonymousId === null) return <>{words.somebodyNew}</>
  const { runs, inProgress, completedAt } = history
  const state = inProgress ? 'progress' : completedAt ? 'completed' : 'dismissed'
  return (
    <>
      <code>{userId ?? anonymousId}</code>{' '}
      {runs === 0 ? words.noHistory : words.history(runs, words.states[state])}
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
  const { shown, flow, person, rules, instead, unreported } = explanation
  const unknown = isUnknown(explanation)
  const { userId, anonymousId } = person
  const who = userId !== null ? { user: userId } : { anonymous: anonymousId }
  const name = nameOf(flow.key)
  return (
    <section class="part">
      <div class="verdict row card">
        <h2>
          {unknown
            ? words.unknownVerdict(unreported.join(', '))
            : shown
              ? words.shown(name)
              : words.notShown(name)}
        </h2>
        <span class="badges">
          <Badge tone={shown ? 'good' : unknown ? 'neutral' : 'bad'}>
            {verdictOf(explanation)}
          </Badge>
          {flow.status === 'published' && flow.version !== null ? (
            <Badge>{words.version(flow.version)}</Badge>
          ) : (
            <Badge>{words.draftOf}</Badge>
          )}
          {flow.hasDraft && flow.status === 'published' && (
            <Badge tone="accent">{words.waiting}</Badge>
          )}
        </span>
        {unknown && <p>{words.unknownWhy}</p>}
        {instead !== null && (
          <p>
            {words.instead(nameOf(instead))}{' '}
            <a href={withFilters({ flow: instead })}>{words.insteadWhy}</a>
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
            {words.lookAtPerson}
          </LinkButton>
        )}
      </div>
    </section>
  )
}
