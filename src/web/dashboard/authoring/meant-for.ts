import type { AudienceRule, FlowDefinition } from '../../../core/flow/flow.ts'
import { flowFormWords } from '../words/flow-form.ts'
import { meantForWords as words } from '../words/when.ts'
import { writeValue } from './form/rule-value.ts'

/** Where, to whom and when a flow is shown, in words. */

/** So many entries are told one by one. */
const most = 5

function listed(entries: readonly string[], joint: string): string {
  const told = entries.slice(0, most)
  const more = entries.length - told.length
  return [...told, ...(more > 0 ? [words.more(more)] : [])].join(joint)
}

function conditionOf({ attribute, op, value }: AudienceRule): string {
  const { ops, presence } = flowFormWords
  if (op === 'exists') return `${attribute} ${value === false ? presence.no : presence.yes}`
  return `${attribute} ${ops[op]} ${writeValue(value)}`
}

export function meantFor(flow: Pick<FlowDefinition, 'targeting' | 'schedule' | 'rollout'>) {
  const { targeting, schedule, rollout } = flow
  const { urls, audience } = targeting
  const pages = urls.map(({ match, pattern }) => `${flowFormWords.matches[match]} ${pattern}`)
  const people = audience.rules.map(conditionOf)
  const who = people.length > 0 ? listed(people, words.joints[audience.match]) : words.everybody
  const [from, to] = [schedule?.from, schedule?.to].map(time => time?.replace('T', ' '))
  const isTimed = schedule && (from ?? to) !== undefined
  return [
    [
      words.pages,
      pages.length > 0 ? words.address(listed(pages, words.joints.any)) : words.everyPage,
    ],
    [words.people, rollout && rollout.percent < 100 ? words.share(rollout.percent, who) : who],
    [words.time, isTimed ? words.between(from, to, schedule.timezone) : words.always],
  ] as const
}
