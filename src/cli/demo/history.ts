import type { StartReason } from '../../core/event/start-reason.ts'
import type { Flow } from '../../core/flow/flow.ts'
import { dayMs, hourMs } from '../../core/time/durations.ts'
import type { Event } from '../../modules/events/schema.ts'
import { SeededRandom } from './random.ts'

/** An event in the form in which a client sends it. */
export type DemoEvent = Event & { id: string; occurredAt: number }

export const demoOrigin = 'https://app.harbor.example'

/** New people on a working day, and by how much of it their number grows each day. */
const peopleADay = 22
const growthADay = 0.018
const maxGrowth = 1.7
/** Sunday to Saturday. */
const weekdayFactor = [0.25, 1.05, 1.15, 1.1, 1, 0.8, 0.3]
/** How much of a day happens in each UTC hour. */
const hours = [0, 0, 0, 0, 0, 1, 3, 7, 10, 9, 7, 5, 6, 9, 9, 8, 6, 4, 2, 2, 1, 1, 0, 0]
const hourLot = hours.flatMap((weight, hour) => Array<number>(weight).fill(hour))

const plans = ['free', 'free', 'team', 'business']
const roles = ['owner', 'admin', 'member', 'member', 'member']

/** What people do at a step: they read for so long, and then leave, skip, or go on. */
const habits: Record<string, { seconds: number; leaves: number; skips: number }> = {
  hello: { seconds: 7, leaves: 0.13, skips: 0 },
  'create-project': { seconds: 14, leaves: 0.08, skips: 0.03 },
  'add-task': { seconds: 26, leaves: 0.22, skips: 0.06 },
  'invite-team': { seconds: 18, leaves: 0.09, skips: 0.27 },
  'find-help': { seconds: 8, leaves: 0.04, skips: 0 },
  'whats-new': { seconds: 11, leaves: 0.4, skips: 0 },
  recommend: { seconds: 6, leaves: 0.08, skips: 0.18 },
  reason: { seconds: 21, leaves: 0.03, skips: 0.55 },
}
const otherHabit = { seconds: 10, leaves: 0.1, skips: 0.05 }

/** The share of people who tick an item of the checklist, and the median of hours until they do. */
const checklistItems: Record<string, { share: number; hours: number }> = {
  'create-project': { share: 0.82, hours: 0.2 },
  'invite-teammate': { share: 0.44, hours: 5 },
  'complete-task': { share: 0.66, hours: 20 },
  'choose-notifications': { share: 0.38, hours: 1 },
  'read-guide': { share: 0.3, hours: 2 },
}
const otherItem = { share: 0.4, hours: 3 }

/** Version 2 of the tour has a shorter first step, which fewer people leave. */
export const improvedStep = 'hello'
const leavesBefore = 0.29
export const improvedSince = (firstDay: number) => (firstDay + 15) * dayMs + 9 * hourMs

/** A release changes a button, and three in four pages no longer find this step's element. */
export const lostStep = 'add-task'
export const lostShare = 0.75
export const lostSince = (firstDay: number) => (firstDay + 24) * dayMs + 10 * hourMs

/** The page of this flow is moved, and nobody meets it from then on. */
const stalledFlow = 'saved-views'
const stalledSince = (firstDay: number) => (firstDay + 16) * dayMs

/** Whether people would recommend Harbor, 0 to 10: each score is as frequent as it appears here. */
const scores = [2, 4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10]
/** Why, of people who would not, might and would. */
const unhappy = [
  'Too expensive for a small team.',
  'Boards are slow once there are a few hundred cards.',
  'I could not find out how to invite a client.',
  'The mobile app loses what I wrote.',
]
const content = [
  'Good, but reports are missing.',
  'Does what it should. Search could be better.',
  'I would like to see the calendar of the whole team.',
]
const happy = [
  'Timelines save me an hour a day.',
  'The whole team understood it without training.',
  'It is the first tool that everyone here opens on their own.',
  'Simple and quick!',
]
const reasonsFor = (score: number) => (score <= 6 ? unhappy : score <= 8 ? content : happy)

/** How often an opening of the resource centre leads to each of its items, of ten. */
const helpItems = [
  'guide',
  'guide',
  'guide',
  'news',
  'news',
  'news',
  'tour',
  'checklist',
  null,
  null,
]

/** One day's new people and everything that they did from then on, some of it on later days. */
export function historyOfDay(
  day: number,
  { flows, firstDay }: { flows: readonly Flow[]; firstDay: number },
): DemoEvent[] {
  const random = new SeededRandom(`harbor ${day}`)
  const growth = Math.min(1 + growthADay * Math.max(0, day - firstDay), maxGrowth)
  const weekday = weekdayFactor[(day + 4) % 7] ?? 1
  const count = Math.round(peopleADay * growth * weekday * random.between(0.85, 1.15))
  const named = (key: string) => flows.find(flow => flow.key === key)
  const [tour, checklist] = [named('welcome'), named('getting-started')]
  const [news, stalled] = [named('spring-release'), named(stalledFlow)]
  const people = Array.from({ length: count }, (_, i) => {
    const start = day * dayMs + random.pick(hourLot) * hourMs + Math.floor(random.next() * hourMs)
    const isKnown = !random.chance(0.12)
    const ids = isKnown
      ? { userId: `u${day - 20_000}${String(i + 1).padStart(2, '0')}` }
      : { anonymousId: random.idAt(day * dayMs) }
    const person = new Person(random, ids, firstDay)
    if (tour && random.chance(0.88)) person.tryFlow(tour, start, '/projects')
    if (checklist && isKnown && random.chance(0.6)) {
      person.tickItems(checklist, start + random.waitMs(240))
    }
    if (news && random.chance(0.45)) person.tryFlow(news, start + random.waitMs(1_200), '/home')
    if (stalled && start < stalledSince(firstDay) && random.chance(0.2)) {
      person.tryFlow(stalled, start + random.waitMs(900), '/views')
    }
    return person
  })
  // By numbers of their own, so that the rest of the history stays as it is.
  const helpRandom = new SeededRandom(`harbor help ${day}`)
  const help = named('help')
  if (help) {
    for (const person of people) {
      if (helpRandom.chance(0.35)) person.useLauncher(help, dayMs * day, helpRandom)
    }
  }
  return people.flatMap(({ events }) => events).sort((a, b) => a.occurredAt - b.occurredAt)
}

type Report = (kind: Event['kind'], at: number, more?: Partial<DemoEvent>) => void

class Person {
  readonly events: DemoEvent[] = []
  private readonly traits: { plan: string; role: string }

  constructor(
    private readonly random: SeededRandom,
    private readonly ids: { userId?: string; anonymousId?: string },
    private readonly firstDay: number,
  ) {
    this.traits = { plan: random.pick(plans), role: random.pick(roles) }
  }

  /** Up to three runs: a person who neither finished nor dismissed it may try again on a later day. */
  tryFlow(flow: Flow, start: number, path: string): void {
    let at = start
    for (let run = 0; run < 3; run++) {
      // Once they have left it, they take it again from the resource centre.
      const reason = run === 0 ? undefined : 'launcher'
      if (this.run(flow, at, path, reason) !== 'left' || !this.random.chance(0.4)) return
      at += Math.round(dayMs * this.random.between(0.8, 2.6))
    }
  }

  private run(flow: Flow, start: number, path: string, reason?: StartReason) {
    const { random, traits } = this
    const report = this.startRun(flow, start, path, 'flow_started', reason)
    // People who pay finish more often, and so do owners.
    const patience = (traits.plan === 'free' ? 1.2 : 0.7) * (traits.role === 'owner' ? 0.7 : 1.05)
    let at = start
    let score: number | null = null
    for (const step of flow.steps) {
      const { seconds, leaves, skips } = habits[step.key] ?? otherHabit
      const isOldVersion = step.key === improvedStep && start < improvedSince(this.firstDay)
      const leaving = patience * (isOldVersion ? leavesBefore : leaves)
      const of = { stepId: step.id }
      const missing = step.key === lostStep && at >= lostSince(this.firstDay) ? lostShare : 0.02
      if (step.target?.required && random.chance(missing)) {
        at += step.target.waitMs
        report('target_missing', at, of)
        if (random.chance(2 * leaving)) return 'left'
        continue
      }
      at += Math.round(random.between(150, 900))
      report('step_viewed', at, of)
      at += random.waitMs(seconds)
      if (random.chance(leaving)) {
        if (random.chance(0.4)) return 'left'
        const reason = random.pick(['close_button', 'close_button', 'escape_key', 'not_now'])
        report('flow_dismissed', at, { ...of, reason })
        return 'dismissed'
      }
      const isSkipped = random.chance(skips) || (step.question?.type === 'text' && score === null)
      if (step.question && !isSkipped) {
        if (step.question.type === 'rating') score = random.pick(scores)
        const answer = step.question.type === 'rating' ? score : random.pick(reasonsFor(score!))
        report('question_answered', at - 10, { ...of, properties: { answer } })
      }
      report(isSkipped ? 'step_skipped' : 'step_completed', at, of)
    }
    report('flow_completed', at + 20)
    return 'done'
  }

  /** Opens it once or a few times, on this day and the next ones. */
  useLauncher(flow: Flow, day: number, random: SeededRandom): void {
    const first = day + random.pick(hourLot) * hourMs + random.waitMs(1_200)
    let at = first
    do {
      const of = { flowId: flow.id, runId: random.idAt(at), sessionId: random.hex(16) }
      const report = (kind: Event['kind'], after: number, more: Partial<DemoEvent> = {}) => {
        const id = random.idAt(at + after)
        const url = `${demoOrigin}/projects`
        this.events.push({ id, kind, ...this.ids, ...of, url, occurredAt: at + after, ...more })
      }
      const chosen = random.pick(helpItems)
      // Until they have opened it once, announcements are new to them.
      const isUnread = at === first || chosen === 'news'
      const reason: StartReason | null = isUnread ? 'unread' : null
      report('flow_started', 0, { traits: this.traits, ...(reason && { reason }) })
      const stepId = flow.launcher?.items.find(({ key }) => key === chosen)?.id
      const after = random.waitMs(6)
      if (stepId === undefined) report('flow_dismissed', after, { reason: 'closed' })
      else {
        report('step_completed', after, { stepId })
        report('flow_completed', after)
      }
      at += Math.round(dayMs * random.between(0.3, 2))
    } while (random.chance(0.4))
  }

  /** Items that wait for an event are ticked by it, which Harbor's back end sends; others by the page. */
  tickItems(checklist: Flow, start: number): void {
    const { random } = this
    const report = this.startRun(checklist, start, '/home', 'checklist_opened')
    // Three in ten go through the whole list.
    const diligence = random.chance(0.3) ? 2.6 : random.between(0.55, 1.2)
    for (const { id, key, completeOn } of checklist.checklist?.items ?? []) {
      const { share, hours } = checklistItems[key] ?? otherItem
      if (!random.chance(share * diligence)) continue
      const at = start + random.waitMs(hours * 3_600)
      if (!completeOn) report('item_completed', at, { itemId: id })
      else {
        const properties = { plan: this.traits.plan, source: 'api' }
        this.add('custom', at, { name: completeOn.event, properties })
      }
    }
  }

  /** Reports the first event of a run. @returns what reports the others */
  private startRun(
    flow: Flow,
    start: number,
    path: string,
    first: Event['kind'],
    reason?: StartReason,
  ): Report {
    const { random, traits } = this
    const run = { flowId: flow.id, runId: random.idAt(start), sessionId: random.hex(16) }
    const report: Report = (kind, at, more) =>
      this.add(kind, at, { ...run, url: `${demoOrigin}${path}`, ...more })
    report(first, start, { traits, ...(reason && { reason }) })
    return report
  }

  private add(kind: Event['kind'], occurredAt: number, more: Partial<DemoEvent>): void {
    const id = this.random.idAt(occurredAt)
    this.events.push({ id, kind, ...this.ids, occurredAt, ...more })
  }
}
