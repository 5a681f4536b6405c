import type { Flow } from '../../core/flow/flow.ts'
import { shellWord } from '../../core/text/wording.ts'
import { dayMs } from '../../core/time/durations.ts'
import { version } from '../../core/version.ts'
import { demoOrigin } from './history.ts'
import { fingerprintOf } from './present.ts'

export interface DemoFacts {
  url: string
  managementUrl: string
  siteUrl: string
  /** Signs in whoever opens it, once; null if there is no dashboard. */
  dashboardUrl: string | null
  dataDir: string
  /** How this program can be called from here. */
  executable: string
  organisation: { id: string; slug: string; name: string }
  snippetKey: string
  token: string
  expiresAt: string
  flows: readonly Flow[]
  now: number
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** What a newcomer wants to know about the demo, with a call to copy for every route. */
export function demoFacts(facts: DemoFacts): string[] {
  const { organisation, snippetKey, token, flows } = facts
  return [
    '',
    `${organisation.name} (${organisation.slug}, ${organisation.id})`,
    '',
    ...(facts.dashboardUrl === null
      ? []
      : [
          `  dashboard      ${facts.dashboardUrl}`,
          '                 signs you in as its operator, once, within ten minutes; for another link:',
          `                 ${shellWord(facts.executable)} dashboard link --role operator --data ${shellWord(facts.dataDir)}`,
        ]),
    `  the site       ${facts.siteUrl}, where a tour begins: open it in a browser`,
    `                 ${facts.siteUrl}/home?as=ben is somebody else, who has not seen it yet`,
    `  API            ${facts.url}/api/v1`,
    `  manual         ${facts.url}/docs`,
    `  management     ${facts.managementUrl}`,
    `  data           ${facts.dataDir}`,
    `  snippet key    ${snippetKey}`,
    `  session token  ${token}`,
    `                 valid until ${facts.expiresAt}`,
    ...flows.map(({ kind, key, id }) => `  ${kind.padEnd(13)}  ${key}, ${id}`),
    '',
    'Calls to copy, one for every route:',
    '',
    ...calls(facts).flatMap(({ about, line }) => [`# ${about}`, line, '']),
    `# ready to serve?`,
    `curl -s ${facts.managementUrl}/readyz`,
    '# which steps have lost their element, and what to do about it?',
    `${shellWord(facts.executable)} steps check --data ${shellWord(facts.dataDir)}`,
    '',
    'Ctrl-C stops the demo; it starts again on the same data.',
  ]
}

/** One call for every route of the API, with ids that exist. */
export function calls(facts: DemoFacts): { about: string; line: string }[] {
  const { snippetKey, token, flows, now } = facts
  const api = `${facts.url}/api/v1`
  const flow = flows.find(({ kind }) => kind === 'tour') ?? flows[0]
  const checklist = flows.find(flow => flow.checklist !== null) ?? flow
  const step = flow?.steps.find(({ target }) => target !== null) ?? flow?.steps[0]
  const item = checklist?.checklist?.items.at(-1)
  if (!flow || !checklist || !step) return []

  const call = (credential: string, path: string, body?: unknown) => {
    const parts = ['curl -s', `-H 'Authorization: Bearer ${credential}'`]
    if (body !== undefined) {
      parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`)
    }
    return [...parts, quoted(`${api}${path}`)].join(' ')
  }
  const page = (about: string, path: string, body?: unknown) => ({
    about,
    line: call(snippetKey, path, body),
  })
  const analyst = (about: string, path: string) => ({ about, line: call(token, path) })

  const userId = 'u-you'
  const from = new Date(now - 29 * dayMs).toISOString().slice(0, 10)
  const to = new Date(now).toISOString().slice(0, 10)
  const run = { flowId: flow.id, userId, runId: 'run-you-1' }
  return [
    page('the flows that pages show', '/flows'),
    page('one flow', `/flows/${flow.id}`),
    page('report what happened', '/events', {
      events: [
        { kind: 'flow_started', ...run },
        { kind: 'step_viewed', stepId: step.id, ...run },
      ],
    }),
    page('complete a flow', `/flows/${flow.id}/complete`, { userId, runId: run.runId }),
    page("a person's checklist", `/flows/${checklist.id}/checklist-progress?userId=${userId}`),
    page('tick an item', `/flows/${checklist.id}/checklist-progress`, {
      userId,
      items: [{ key: item?.key, completed: true }],
    }),
    page("compare a step's element with its baseline", `/steps/${step.id}/fingerprint`, {
      fingerprint: fingerprintOf(step),
      url: `${demoOrigin}/projects`,
      locale: 'en',
    }),
    page("report whether a step's element was found", `/steps/${step.id}/health`, {
      outcome: 'found',
      userId,
      selector: step.target?.selector,
      matchCount: 1,
    }),
    page('a sign of life', `/heartbeat?v=${encodeURIComponent(version)}&sid=you`),
    page('is the snippet installed, and is all well?', '/snippet-status'),
    analyst("a flow's numbers", `/flows/${flow.id}/analytics?from=${from}&to=${to}`),
    analyst('the same as CSV', `/flows/${flow.id}/analytics/export.csv?from=${from}&to=${to}`),
  ]
}
