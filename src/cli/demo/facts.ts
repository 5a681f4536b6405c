import { shellWord } from '../../core/text/wording.ts'
import { isoTime } from '../../core/time/clock.ts'
import type { Harbor } from './fill.ts'

export interface DemoFacts extends Harbor {
  url: string
  managementUrl: string
  siteUrl: string
  /** Signs in the person who opens it, once; null if there is no dashboard. */
  dashboardUrl: string | null
  dataDir: string
  /** The word that starts this program in this shell. */
  executable: string
  token: string
  /** When the token expires, epoch milliseconds. */
  expiresAt: number
}

/** What to open, and calls to copy. */
export function demoFacts(facts: DemoFacts): string[] {
  const { organisation, snippetKey, token, flows, url, siteUrl, dashboardUrl, dataDir } = facts
  const [cairn, data] = [facts.executable, dataDir].map(shellWord)
  const tour = flows.find(({ kind }) => kind === 'tour')
  const dashboard = [
    `  dashboard      ${dashboardUrl}`,
    '                 signs you in once, within ten minutes; for another link:',
    `                 ${cairn} dashboard link --role operator --data ${data}`,
  ]
  const call = (credential: string, path: string) =>
    `curl -s -H 'Authorization: Bearer ${credential}' '${url}/api/v1${path}'`
  return [
    '',
    `Started the demo of ${organisation.name}. Next: open the dashboard, then the site.`,
    '',
    ...(dashboardUrl === null ? [] : dashboard),
    `  site           ${siteUrl} starts a tour`,
    `                 ${siteUrl}/home?as=ben is another person, who has not seen it`,
    `  manual         ${url}/docs`,
    `  API            ${url}/api/v1, described at ${url}/api/v1/docs`,
    `  management     ${facts.managementUrl}`,
    `  data           ${dataDir}`,
    `  snippet key    ${snippetKey}`,
    `  session token  ${token}`,
    `                 valid until ${isoTime(facts.expiresAt)}`,
    '',
    '# what a page gets',
    call(snippetKey, '/flows'),
    '# the results of the tour, as JSON and as CSV',
    call(token, `/flows/${tour?.id}/analytics`),
    call(token, `/flows/${tour?.id}/analytics/export.csv`),
    '# steps whose element is missing',
    `${cairn} steps check --data ${data}`,
    '',
    'Press Ctrl-C to stop. The same command starts it again with the same data.',
  ]
}
