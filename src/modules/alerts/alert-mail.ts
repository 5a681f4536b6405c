import type { Flow } from '../../core/flow/flow.ts'
import type { Catalogue, Organisation } from '../../core/organisation/catalogue.ts'
import { isoTimeOrNull } from '../../core/time/clock.ts'
import type { Alert, Facts } from '../../storage/interfaces/alerts.ts'
import { dashboardUrl, type Message, messageOf } from './messages.ts'
import { rules } from './rules.ts'

/** What one check found and saw resolved, for one mail. */
export interface AlertNews {
  organisation: { slug: string; name: string }
  alerts: { message: string; fix: string; resolvedAt: string | null; url: string | null }[]
}

/** The news about alerts, with flows and steps by the names that their authors gave them. */
export function alertNews(
  alerts: readonly Alert[],
  { slug, name }: Organisation,
  {
    named,
    publicUrl,
    now,
  }: { named: (facts: Facts) => Facts; publicUrl: string | null; now: number },
): Message {
  const news: AlertNews = {
    organisation: { slug, name },
    alerts: alerts.map(({ rule, facts, resolvedAt }) => ({
      message: rules[rule].message(named(facts)),
      fix: rules[rule].fix(facts),
      resolvedAt: isoTimeOrNull(resolvedAt),
      url: dashboardUrl(publicUrl, slug, rules[rule].page(facts)),
    })),
  }
  return messageOf('alerts.news', now, news)
}

/** Returns a function that puts names in place of the keys of published flows and their steps. */
export function namesIn(catalogue: Catalogue, organisation: Organisation) {
  const { flows } = JSON.parse(catalogue.publishedFlows(organisation).text) as { flows: Flow[] }
  return (facts: Facts): Facts => {
    const flow = flows.find(({ key }) => key === facts.flow)
    const step = flow?.steps.find(({ key }) => key === facts.step)
    return { ...facts, ...(flow && { flow: flow.name }), ...(step?.title && { step: step.title }) }
  }
}

/** The mail, and its link to unsubscribe. */
export function alertMail({ organisation, alerts }: AlertNews, unsubscribe: string) {
  const [first, ...others] = alerts.map(({ message, resolvedAt }) =>
    resolvedAt === null ? message : `Resolved: ${message}`,
  )
  const what = others.length === 0 ? first : `${alerts.length} alerts`
  const blocks = alerts.map(({ message, fix, resolvedAt, url }) =>
    [resolvedAt === null ? `${message}\n${fix}` : `Resolved: ${message}`, url ?? '']
      .filter(Boolean)
      .join('\n'),
  )
  return {
    subject: `${organisation.name} on Cairn: ${what}`.replace(/[\r\n]+/g, ' '),
    text: `${[...blocks, `Unsubscribe: ${unsubscribe}`].join('\n\n')}\n`,
  }
}
