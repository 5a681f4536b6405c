import type { AudienceRule, FlowDefinition } from '../../../core/flow/flow.ts'

/** Where, to whom and when a flow is shown, in words. */

/** This many entries are named one by one. */
const maxNamed = 5

function listed(entries: readonly string[], joint: string): string {
  const named = entries.slice(0, maxNamed)
  const more = entries.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(joint)
}

const ops: Record<Exclude<AudienceRule['op'], 'exists'>, string> = {
  eq: 'is',
  neq: 'is not',
  in: 'is one of',
  nin: 'is none of',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  contains: 'contains',
}

const matches = { exact: 'is', prefix: 'starts with', glob: 'matches' }

function conditionOf({ attribute, op, value }: AudienceRule): string {
  if (op === 'exists') return `${attribute} is ${value === false ? 'not set' : 'set'}`
  return `${attribute} ${ops[op]} ${[value].flat().join(', ')}`
}

function timeOf({ schedule }: Pick<FlowDefinition, 'schedule'>): string {
  const [from, to] = [schedule?.from, schedule?.to].map(time => time?.replace('T', ', '))
  if (from === undefined && to === undefined) return 'As long as it is published'
  const parts = [from && `from ${from}`, to && `until ${to}`].filter(Boolean).join(' ')
  return `${parts.charAt(0).toUpperCase()}${parts.slice(1)} (${schedule!.timezone})`
}

export function meantFor(flow: Pick<FlowDefinition, 'targeting' | 'schedule' | 'rollout'>) {
  const { urls, audience } = flow.targeting
  const percent = flow.rollout?.percent ?? 100
  const pages = urls.map(({ match, pattern }) => `${matches[match]} ${pattern}`)
  const people = audience.rules.map(conditionOf)
  const who =
    people.length > 0 ? listed(people, audience.match === 'all' ? ' and ' : ' or ') : 'Everybody'
  return [
    ['Pages', pages.length > 0 ? `Address ${listed(pages, ' or ')}` : 'Every page'],
    ['People', percent < 100 ? `${percent}% of: ${who}` : who],
    ['When', timeOf(flow)],
  ] as const
}
