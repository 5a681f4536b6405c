import type { Config } from '../../config/settings.ts'
import { readFlowFile } from '../../core/flow/file.ts'
import type { Flow } from '../../core/flow/flow.ts'
import { minimalFlow } from '../../core/flow/minimal.ts'
import type { Clock } from '../../core/time/clock.ts'
import { dayMs } from '../../core/time/durations.ts'
import type { ListedFlows } from '../../modules/authoring/model.ts'
import type { KeyList, OrganisationList, Settings } from '../../modules/organisations/model.ts'
import type { StepCheck } from '../../modules/steps/model.ts'
import { hasDatabase } from '../../storage/sqlite/database/database.ts'
import { newLink } from '../dashboard.ts'
import { makeData } from '../data.ts'
import { type Manager, managedAt, operated } from '../manage.ts'
import gettingStarted from './flows/getting-started.yaml' with { type: 'text' }
import springRelease from './flows/spring-release.yaml' with { type: 'text' }
import welcomeTour from './flows/welcome-tour.yaml' with { type: 'text' }
import { type DemoEvent, historyOfDay } from './history.ts'
import { sendPast } from './past.ts'
import { type Page, sendPresent } from './present.ts'

/** The demo's flows as their author wrote them. */
const flowFiles: readonly string[] = [welcomeTour, gettingStarted, springRelease]

/** The look of Harbor's own pages. */
const theme = {
  ...{ accent: '#0b7285', radius: 10, shadow: 'soft', logo: '/logo.svg' },
  dark: { accent: '#3bc9db', background: '#1b2a36', text: '#e3ecf2', logo: '/logo-dark.svg' },
}

/** Days of history, including today, unless the retention is shorter. */
const historyDays = 30
/** Events per request, as many as one may hold; and requests under way at once. */
const batchSize = 50
const concurrency = 6
/** What the pages report about the present is sent again once it is this old. */
const presentMs = 6 * 3_600_000

/**
 * Makes a new directory with the demo's organisation and flows before it is served. Its clock says that they
 * were published on the day before the history begins, so that nobody can have seen them earlier.
 */
export async function prepareDemo(
  { data, retentionDays }: Pick<Config, 'data' | 'retentionDays'>,
  now: number,
): Promise<void> {
  makeData(inDirectory(data))
  if (hasDatabase(data)) return
  await makeHarbor(data)
  const today = Math.floor(now / dayMs)
  const publishedAt = (today - historyDays) * dayMs
  await inHarbor(data, pushMissing, { now: () => publishedAt })
  const snippetKey = await inHarbor(data, currentKey)
  if (snippetKey === null) return
  const length = Math.min(historyDays, retentionDays)
  const days = Array.from({ length }, (_, i) => today - length + 1 + i)
  await sendPast({ data, snippetKey, now }, days, today - historyDays + 1)
}

/** Null if there is none. */
async function currentKey({ ask }: Manager): Promise<string | null> {
  const { keys } = await ask<typeof KeyList>('GET /keys')
  return keys.find(({ worksUntil }) => worksUntil === null)?.key ?? null
}

/** Whatever the settings name, a demo is in a directory of its own. */
const inDirectory = (data: string) => ({ data, databaseUrl: null })

async function makeHarbor(data: string): Promise<void> {
  const isNew = await operated(inDirectory(data), async ({ ask }) => {
    const { organisations } = await ask<OrganisationList>('GET /organisations?named=harbor')
    if (organisations.length > 0) return false
    await ask('POST /organisations', { body: { name: 'Harbor', slug: 'harbor' } })
    return true
  })
  if (!isNew) return
  await inHarbor(data, ({ ask }) => ask('PATCH /settings', { body: { traits: ['plan'], theme } }))
}

const inHarbor = <T>(data: string, work: (manager: Manager) => Promise<T>, time?: Partial<Clock>) =>
  managedAt(inDirectory(data), 'harbor', work, time)

/** Pushes the flows that are missing; existing ones are left alone. */
async function pushMissing({ ask }: Manager): Promise<void> {
  const { flows: stored } = await ask<typeof ListedFlows>('GET /flows')
  const pushed = new Set(stored.map(({ key }) => key))
  const flows = flowFiles
    .flatMap(text => readFlowFile(text).flows)
    .filter(({ key }) => !pushed.has(key))
    .map(minimalFlow)
  if (flows.length > 0) await ask('POST /push', { body: { flows, publish: true } })
}

/** A link that signs the demo's operator in to the dashboard; null if there is no dashboard. */
export async function demoLink(
  { data, dashboard, publicUrl }: Pick<Config, 'data' | 'dashboard' | 'publicUrl'>,
  url: string,
): Promise<string | null> {
  if (dashboard === 'off') return null
  const body = { role: 'operator', name: 'Demo owner' } as const
  return (await inHarbor(data, manager => newLink(manager, publicUrl ?? url, body))).url
}

/** The organisation of a running demo, and its snippet key; what is missing is made. */
export async function lookUpDemo(
  data: string,
): Promise<{ organisation: Settings; snippetKey: string }> {
  await makeHarbor(data)
  return inHarbor(data, async manager => {
    const { ask } = manager
    await pushMissing(manager)
    const organisation = await ask<Settings>('GET /settings')
    const current = await currentKey(manager)
    if (current !== null) return { organisation, snippetKey: current }
    const body = { graceHours: 0 }
    const { snippetKey } = await ask<{ snippetKey: string }>('POST /keys/rotate', { body })
    return { organisation, snippetKey }
  })
}

/** What the history is made of. */
interface Told {
  data: string
  page: Page
  flows: readonly Flow[]
  organisation: Settings
  now: number
  retentionDays: number
  onProgress(line: string): void
}

/** Sends the parts of the history and of the present that are not stored yet. @returns the number of events */
export async function sendAll(told: Told): Promise<number> {
  const { data, page, flows, organisation, now, retentionDays, onProgress } = told
  const { stored, isPresent } = await inHarbor(data, async ({ ask, download }) => {
    const { steps } = await ask<StepCheck>('GET /health')
    const isRecent = (time: string | null) => time !== null && Date.parse(time) > now - presentMs
    const isPresent = steps.some(step => isRecent(step.lastFindAt) || isRecent(step.lastMissAt))
    let lines = ''
    for await (const chunk of await download('GET /events')) lines += chunk
    const events = lines.split('\n').filter(Boolean)
    return { isPresent, stored: new Set(events.map(line => JSON.parse(line).id as string)) }
  })
  // Older events would be refused.
  const days = Math.min(historyDays, retentionDays)
  const today = Math.floor(now / dayMs)
  const firstDay = Math.floor(Date.parse(organisation.createdAt) / dayMs) - historyDays + 1
  const eventsOf = (day: number) =>
    historyOfDay(day, { flows, firstDay }).filter(({ occurredAt }) => occurredAt <= now)
  let sent = 0
  for (let done = 1; done <= days; done++) {
    const happened = eventsOf(today - days + done)
    const last = happened.at(-1)
    // A day that broke off midway is sent again, because the server knows events by their ids.
    if (last && !stored.has(last.id)) {
      await sendDay(page, happened)
      sent += happened.length
    }
    onProgress(`sending history: day ${done} of ${days}, ${sent} events`)
  }
  if (!isPresent) {
    onProgress('sending health reports, fingerprints, ticks and completions')
    const recent = [today - 2, today - 1, today].flatMap(eventsOf)
    const accepted = recent.filter(({ occurredAt }) => occurredAt > now - days * dayMs)
    await sendPresent(page, flows, accepted)
  }
  return sent
}

async function sendDay(page: Page, events: readonly DemoEvent[]): Promise<void> {
  const batches: DemoEvent[][] = []
  for (let i = 0; i < events.length; i += batchSize) batches.push(events.slice(i, i + batchSize))
  const last = batches.pop()
  const send = (batch: DemoEvent[]) =>
    page('POST /events', { body: { sentAt: Date.now(), events: batch } })
  while (batches.length > 0) await Promise.all(batches.splice(0, concurrency).map(send))
  // Sent alone and last, because it marks the day as complete.
  if (last) await send(last)
}
