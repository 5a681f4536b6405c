import type { AudienceRule, FlowDefinition } from '../../../core/flow/flow.ts'
import { matchNames, operators } from './form/names.ts'
import { writeValue } from './form/rule-value.ts'

/** Where, to whom and when a flow is shown, in words. */

/** So many entries are told one by one. */
const most = 5

function listed(entries: readonly string[], joint: string): string {
  const told = entries.slice(0, most)
  const more = entries.length - told.length
  return [...told, ...(more > 0 ? [`${more} more`] : [])].join(joint)
}

function conditionOf({ attribute, op, value }: AudienceRule): string {
  if (op === 'exists') return `${attribute} ${value === false ? 'is not set' : 'is set'}`
  return `${attribute} ${operators[op]} ${writeValue(value)}`
}

const between = (from: string | undefined, to: string | undefined, zone: string) =>
  `${[from && `From ${from}`, to && `${from ? 'to' : 'To'} ${to}`].filter(Boolean).join(' ')}, ${zone}`

export function meantFor(flow: Pick<FlowDefinition, 'targeting' | 'schedule' | 'rollout'>) {
  const { targeting, schedule, rollout } = flow
  const { urls, audience } = targeting
  const pages = urls.map(({ match, pattern }) => `${matchNames[match]} ${pattern}`)
  const people = audience.rules.map(conditionOf)
  const who =
    people.length > 0 ? listed(people, audience.match === 'all' ? ' and ' : ' or ') : 'Everyone'
  const [from, to] = [schedule?.from, schedule?.to].map(time => time?.replace('T', ' '))
  const isTimed = schedule && (from ?? to) !== undefined
  return [
    ['Pages', pages.length > 0 ? `Address ${listed(pages, ' or ')}` : 'Every page'],
    ['People', rollout && rollout.percent < 100 ? `${rollout.percent}% of: ${who}` : who],
    ['When', isTimed ? between(from, to, schedule.timezone) : 'For as long as it is published'],
  ] as const
}
