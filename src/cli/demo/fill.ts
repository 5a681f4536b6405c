import type { Config } from '../../config/settings.ts'
import { readFlowFile } from '../../core/flow/file.ts'
import type { Flow, FlowDefinition } from '../../core/flow/flow.ts'
import { minimalFlow } from '../../core/flow/minimal.ts'
import { dayMs } from '../../core/time/durations.ts'
import type { KeyList, OrganisationList, Settings } from '../../modules/organisations/schema.ts'
import { systemClock } from '../../runtime/system-clock.ts'
import { hasDatabase, openForReading } from '../../storage/sqlite/database/database.ts'
import { newestReceipt } from '../../storage/sqlite/database/inspect.ts'
import { type Asker, asking } from '../asking.ts'
import { makeData } from '../data.ts'
import { atDoor, operator } from '../manage.ts'
import gettingStarted from './flows/getting-started.yaml' with { type: 'text' }
import help from './flows/help.yaml' with { type: 'text' }
import savedViews from './flows/saved-views.yaml' with { type: 'text' }
import springRelease from './flows/spring-release.yaml' with { type: 'text' }
import welcomeTour from './flows/welcome-tour.yaml' with { type: 'text' }
import { type DemoEvent, historyOfDay, improvedSince, improvedStep, lostSince } from './history.ts'
import { healthReport, reportPresent } from './reports.ts'

const flowIn = (text: string) => readFlowFile(text).flows[0]!
const tour = flowIn(welcomeTour)
const otherFlows = [gettingStarted, springRelease, savedViews, help].map(flowIn)

const longWelcome = `Harbor keeps your team's **projects, tasks and deadlines** in one place.

A project holds tasks, a task holds subtasks, and each of them has an owner, a due date and a history.
Timelines show what depends on what, boards show who works on it, and reports show how it went. Guests see
only what you share with them. Everything can be exported, and nothing is ever deleted for good.

On the next pages you will learn how to start a project, add tasks, invite your team and find help.
`

/** Version 1 of the tour, which begins with more than people want to read. */
const firstTour: FlowDefinition = {
  ...tour,
  steps: tour.steps.map(step =>
    step.key === improvedStep ? { ...step, title: 'Welcome to Harbor', body: longWelcome } : step,
  ),
}

/** The look of Harbor's own pages. */
const theme = {
  ...{ accent: '#0b7285', radius: 10, shadow: 'soft', logo: '/logo.svg' },
  dark: { accent: '#3bc9db', background: '#1b2a36', text: '#e3ecf2', logo: '/logo-dark.svg' },
}
const traits = ['plan', 'role']

/** Days of history, including today, unless the retention is shorter. */
const historyDays = 30
/** Events per request: as many as one may hold. */
const batchSize = 50

/** What a demo has. */
export interface Harbor {
  organisation: Settings
  snippetKey: string
  flows: readonly Flow[]
}

interface FillOptions {
  /** Origin of the demo's site. */
  site: string
  now: number
  signal: AbortSignal
  onProgress(line: string): void
}

/**
 * Brings a directory that nobody serves up to the present: its organisation and flows, and what people have
 * done since the newest stored event, or in the last month. All of it goes through the API, with a clock
 * that says when it happened.
 */
export async function fillDemo(
  { data, retentionDays }: Pick<Config, 'data' | 'retentionDays'>,
  { site, now, signal, onProgress }: FillOptions,
): Promise<Harbor> {
  const place = { data, databaseUrl: null }
  makeData(place)
  const today = Math.floor(now / dayMs)
  const filledTo = filledUntil(data)
  // Made on the day before the history begins, so that nobody has seen a flow before it was published.
  const time = clockAt(filledTo ?? (today - historyDays) * dayMs)
  const work = async (send: Parameters<typeof asking>[0]): Promise<Harbor> => {
    const { organisation, snippetKey, manager } = await findOrMake(send)
    const { ask } = asking(send, { authorization: `Bearer ${snippetKey}` }, '/api/v1')
    const { flows } = await ask<{ flows: Flow[] }>('GET /flows')
    const firstDay = Math.floor(Date.parse(organisation.createdAt) / dayMs) + 1
    const days = Math.min(historyDays, retentionDays)
    const since = filledTo ?? Number.NEGATIVE_INFINITY
    const events = Array.from({ length: days }, (_, i) => today - days + 1 + i)
      .flatMap(day => historyOfDay(day, { flows, firstDay }))
      .filter(({ occurredAt }) => occurredAt > since && occurredAt <= now)
      // Some of what a day's people do happens on later days.
      .sort((a, b) => a.occurredAt - b.occurredAt)
    const steps = new Map(flows.flatMap(({ steps }) => steps).map(step => [step.id, step]))
    const lostAt = lostSince(firstDay)
    let sent = 0
    const sendAll = async (some: readonly DemoEvent[]) => {
      for (let from = 0; from < some.length && !signal.aborted; from += batchSize) {
        const batch = some.slice(from, from + batchSize)
        const reports = batch.map(event => {
          const step = steps.get(event.stepId ?? '')
          const look = Bun.hash.xxHash32(`${event.runId}`)
          const body = step && healthReport(event, step, lostAt, look, site)
          if (!body) return null
          time.set(event.occurredAt)
          return ask(`POST /steps/${step.id}/health`, { body })
        })
        await Promise.all(reports)
        time.set(batch.at(-1)!.occurredAt)
        await ask('POST /events', { body: { sentAt: time.clock.now(), events: batch } })
        sent += batch.length
        onProgress(`sent ${sent} of ${events.length} events`)
      }
    }
    const improvedAt = improvedSince(firstDay)
    await sendAll(events.filter(({ occurredAt }) => occurredAt < improvedAt))
    if (!signal.aborted && flows.some(({ key, version }) => key === tour.key && version === 1)) {
      time.set(Math.max(improvedAt, filledTo ?? 0))
      await publish(manager, [tour])
    }
    await sendAll(events.filter(({ occurredAt }) => occurredAt >= improvedAt))
    time.set(now)
    if (!signal.aborted) await reportPresent(ask, { steps: [...steps.values()], now, lostAt, site })
    return { organisation, snippetKey, flows }
  }
  return atDoor(place, work, time.clock)
}

/** When the newest stored event came in, epoch milliseconds; null in a new directory. */
function filledUntil(data: string): number | null {
  if (!hasDatabase(data)) return null
  using database = openForReading(data)
  return newestReceipt(database)
}

/** A clock that says what it is set to, epoch milliseconds. */
function clockAt(start: number) {
  const machine = systemClock()
  const startedAt = machine.monotonic()
  let at = start
  return {
    clock: { now: () => at, monotonic: () => startedAt + at - start },
    set(time: number) {
      at = time
    },
  }
}

const publish = ({ ask }: Asker, flows: readonly FlowDefinition[]) =>
  ask('POST /push', { body: { flows: flows.map(minimalFlow), publish: true } })

/** The organisation, with the key of its pages. One that is new gets the flows. */
async function findOrMake(send: Parameters<typeof asking>[0]) {
  const server = asking(send, operator())
  const named = 'GET /organisations?named=harbor'
  const find = async () => (await server.ask<OrganisationList>(named)).organisations[0]
  const found = await find()
  if (!found) await server.ask('POST /organisations', { body: { name: 'Harbor', slug: 'harbor' } })
  const organisation = found ?? (await find())!
  const manager = asking(send, { ...operator(), 'cairn-organisation': organisation.id })
  if (!found) {
    await manager.ask('PATCH /settings', { body: { traits, theme } })
    await publish(manager, [firstTour, ...otherFlows])
  }
  return { organisation, manager, snippetKey: await currentKey(manager) }
}

async function currentKey({ ask }: Asker): Promise<string> {
  const { keys } = await ask<typeof KeyList>('GET /keys')
  const current = keys.find(({ worksUntil }) => worksUntil === null)
  if (current) return current.key
  const body = { graceHours: 0 }
  return (await ask<{ snippetKey: string }>('POST /keys/rotate', { body })).snippetKey
}
