import { shellWord } from '../../core/text/wording.ts'
import { isoTime } from '../../core/time/clock.ts'
import { dayMs } from '../../core/time/durations.ts'
import { version } from '../../core/version.ts'
import type { Harbor } from './fill.ts'
import { demoOrigin } from './history.ts'
import { fingerprintOf } from './reports.ts'

export interface DemoFacts extends Harbor {
  url: string
  managementUrl: string
  siteUrl: string
  /** Signs in whoever opens it, once; null if there is no dashboard. */
  dashboardUrl: string | null
  dataDir: string
  /** How this program can be called from here. */
  executable: string
  token: string
  /** When the token expires, epoch milliseconds. */
  expiresAt: number
  now: number
}

/** What a newcomer wants to know about the demo, with a call to copy for every route. */
export function demoFacts(facts: DemoFacts): string[] {
  const { organisation, snippetKey, token, flows, url, siteUrl, dashboardUrl, dataDir } = facts
  const [cairn, data] = [facts.executable, dataDir].map(shellWord)
  const dashboard = [
    `  dashboard      ${dashboardUrl}`,
    '                 signs you in as its operator, once, within ten minutes; for another link:',
    `                 ${cairn} dashboard link --role operator --data ${data}`,
  ]
  return [
    '',
    `${organisation.name} (${organisation.slug}, ${organisation.id})`,
    '',
    ...(dashboardUrl === null ? [] : dashboard),
    `  the site       ${siteUrl}, where a tour begins: open it in a browser`,
    `                 ${siteUrl}/home?as=ben is somebody else, who has not seen it yet`,
    `  API            ${url}/api/v1`,
    `  manual         ${url}/docs`,
    `  management     ${facts.managementUrl}`,
    `  data           ${dataDir}`,
    `  snippet key    ${snippetKey}`,
    `  session token  ${token}`,
    `                 valid until ${isoTime(facts.expiresAt)}`,
    ...flows.map(({ kind, key, id }) => `  ${kind.padEnd(13)}  ${key}, ${id}`),
    '',
    'Calls to copy, one for every route:',
    '',
    ...callsOf(facts).flatMap(([about, line]) => [`# ${about}`, line, '']),
    '# ready to serve?',
    `curl -s ${facts.managementUrl}/readyz`,
    '# which steps have lost their element, and what to do about it?',
    `${cairn} steps check --data ${data}`,
    '',
    'Ctrl-C stops the demo; it starts again on the same data.',
  ]
}

/** One call for every route of the API, with ids that exist, and what each is for. */
function callsOf(facts: DemoFacts): [about: string, line: string][] {
  const { snippetKey, token, flows, now } = facts
  const flow = flows.find(({ kind }) => kind === 'tour')
  const checklist = flows.find(({ kind }) => kind === 'checklist')
  const step = flow?.steps.find(({ target }) => target !== null)
  if (!flow || !checklist || !step) return []
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const call = (credential: string, path: string, body?: unknown) => {
    const parts = [`curl -s -H 'Authorization: Bearer ${credential}'`]
    if (body !== undefined) {
      parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`)
    }
    return [...parts, quoted(`${facts.url}/api/v1${path}`)].join(' ')
  }
  const page = (path: string, body?: unknown) => call(snippetKey, path, body)

  const [userId, runId] = ['u-you', 'run-you-1']
  const run = { flowId: flow.id, userId, runId }
  const started = { kind: 'flow_started', ...run }
  const viewed = { kind: 'step_viewed', stepId: step.id, ...run }
  const items = [{ key: checklist.checklist?.items.at(-1)?.key, completed: true }]
  const { selector } = step.target!
  const seen = { fingerprint: fingerprintOf(step), url: `${demoOrigin}/projects`, locale: 'en' }
  const [from, to] = [now - 29 * dayMs, now].map(time => isoTime(time).slice(0, 10))
  const analytics = `/flows/${flow.id}/analytics`
  const progress = `/flows/${checklist.id}/checklist-progress`
  return [
    ['the flows that pages show', page('/flows')],
    ['one flow', page(`/flows/${flow.id}`)],
    ['report what happened', page('/events', { events: [started, viewed] })],
    ['complete a flow', page(`/flows/${flow.id}/complete`, { userId, runId })],
    ["a person's checklist", page(`${progress}?userId=${userId}`)],
    ['tick an item', page(progress, { userId, items })],
    ["compare a step's element with its baseline", page(`/steps/${step.id}/fingerprint`, seen)],
    [
      "report whether a step's element was found",
      page(`/steps/${step.id}/health`, { outcome: 'found', userId, selector, matchCount: 1 }),
    ],
    ['a sign of life', page(`/heartbeat?v=${encodeURIComponent(version)}&sid=you`)],
    ['is the snippet installed, and is all well?', page('/snippet-status')],
    ["a flow's numbers", call(token, `${analytics}?from=${from}&to=${to}`)],
    ['the same as CSV', call(token, `${analytics}/export.csv?from=${from}&to=${to}`)],
  ]
}
