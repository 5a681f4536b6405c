import type { AudienceRule, FlowDefinition } from '../../../core/flow/flow.ts'
import { matchNames, operators } from '../../../core/flow/names.ts'
import { formatDay, zoneName } from '../parts/format.ts'
import { writeValue } from './form/rule-value.ts'

/** Where, to whom and when a flow is shown, in words. */

/** This many entries are named one by one. */
const maxNamed = 5

function listed(entries: readonly string[], joint: string): string {
  const named = entries.slice(0, maxNamed)
  const more = entries.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(joint)
}

function conditionOf({ attribute, op, value }: AudienceRule): string {
  if (op === 'exists') return `${attribute} is ${value === false ? 'not set' : 'set'}`
  return `${attribute} ${operators[op]} ${writeValue(value)}`
}

/** A day, or a day and a time on it, as people write them. */
function writtenTime(time: string): string {
  const [day = '', clock] = time.split('T')
  return clock === undefined ? formatDay(day) : `${formatDay(day)}, ${clock}`
}

function timeOf({ schedule }: Pick<FlowDefinition, 'schedule'>): string {
  const [from, to] = [schedule?.from, schedule?.to].map(time => time && writtenTime(time))
  if (from === undefined && to === undefined) return 'As long as it is published'
  const parts = [from && `from ${from}`, to && `until ${to}`].filter(Boolean).join(' ')
  return `${parts.charAt(0).toUpperCase()}${parts.slice(1)} (${zoneName(schedule!.timezone)} time)`
}

export function meantFor(flow: Pick<FlowDefinition, 'targeting' | 'schedule' | 'rollout'>) {
  const { urls, audience } = flow.targeting
  const percent = flow.rollout?.percent ?? 100
  const pages = urls.map(({ match, pattern }) => `${matchNames[match]} ${pattern}`)
  const people = audience.rules.map(conditionOf)
  const who =
    people.length > 0 ? listed(people, audience.match === 'all' ? ' and ' : ' or ') : 'Everyone'
  return [
    ['Pages', pages.length > 0 ? `Address ${listed(pages, ' or ')}` : 'Every page'],
    ['People', percent < 100 ? `${percent}% of: ${who}` : who],
    ['When', timeOf(flow)],
  ] as const
}
