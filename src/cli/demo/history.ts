import type { Flow, Step } from '../../core/flow/flow.ts'
import { dayMs, hourMs } from '../../core/time/durations.ts'
import type { Event } from '../../modules/events/model.ts'
import { SeededRandom } from './random.ts'

/** An event in the form in which a client sends it. */
export type DemoEvent = Event & { id: string; occurredAt: number }

export const demoOrigin = 'https://app.harbor.example'

/** New people on an ordinary working day at the beginning, and the most that growth leads to. */
const peopleADay = 22
const mostPeopleADay = 38
const growthADay = 0.018
/** Sunday to Saturday. */
const weekdayFactor = [0.25, 1.05, 1.15, 1.1, 1, 0.8, 0.3]
/** How much of a day happens in each UTC hour. */
const hours = [0, 0, 0, 0, 0, 1, 3, 7, 10, 9, 7, 5, 6, 9, 9, 8, 6, 4, 2, 2, 1, 1, 0, 0]
const hourLot = hours.flatMap((weight, hour) => Array<number>(weight).fill(hour))

/** What people do at a step of the tour: they read for so long, and then leave, skip, or go on. */
const tourSteps: Record<string, { seconds: number; leaves: number; skips: number }> = {
  hello: { seconds: 7, leaves: 0.17, skips: 0 },
  'create-project': { seconds: 14, leaves: 0.08, skips: 0.03 },
  'add-task': { seconds: 26, leaves: 0.22, skips: 0.06 },
  'invite-team': { seconds: 18, leaves: 0.09, skips: 0.27 },
  'find-help': { seconds: 8, leaves: 0.04, skips: 0 },
}
const otherStep = { seconds: 10, leaves: 0.1, skips: 0.05 }

/** The share of people who tick an item of the checklist, and the median of hours until they do. */
const checklistItems: Record<string, { share: number; hours: number }> = {
  'create-project': { share: 0.82, hours: 0.2 },
  'invite-teammate': { share: 0.44, hours: 5 },
  'complete-task': { share: 0.66, hours: 20 },
  'choose-notifications': { share: 0.38, hours: 1 },
  'read-guide': { share: 0.3, hours: 2 },
}
const otherItem = { share: 0.4, hours: 3 }

/** A release after so many days changes a button, so that most pages do not find this step's element. */
export const lostStep = 'add-task'
const daysBeforeLoss = 24
const releaseHourMs = 10 * hourMs
export const lostSince = (firstDay: number) => (firstDay + daysBeforeLoss) * dayMs + releaseHourMs

/** Whether this is one of the pages that do not find it, three in four of them. */
const missesIt = (runId: string | null | undefined) => Bun.hash.xxHash32(`${runId}`) % 4 !== 0

/** Answers from 0 to 10, each as frequent as it appears here. */
const scores = [2, 4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10]

type Report = (kind: Event['kind'], at: number, more?: Partial<DemoEvent>) => void

interface Visitor {
  userId?: string
  anonymousId?: string
}

/** One day's people and everything that they did from then on, some of it on later days. */
export function historyOfDay(
  day: number,
  { flows, firstDay }: { flows: readonly Flow[]; firstDay: number },
): DemoEvent[] {
  const random = new SeededRandom(`harbor ${day}`)
  const growth = Math.min(1 + growthADay * Math.max(0, day - firstDay), mostPeopleADay / peopleADay)
  const weekday = weekdayFactor[(day + 4) % 7] ?? 1
  const people = Math.round(peopleADay * growth * weekday * random.between(0.85, 1.15))
  const history = new History(random)
  for (let i = 0; i < people; i++) {
    const visitor: Visitor = random.chance(0.12)
      ? { anonymousId: random.idAt(day * dayMs) }
      : { userId: `u${day - 20_000}${String(i + 1).padStart(2, '0')}` }
    const start =
      day * dayMs + random.pick(hourLot) * 3_600_000 + Math.floor(random.next() * 3_600_000)
    history.firstVisit(visitor, start, flows)
  }
  const lost = flows.flatMap(({ steps }) => steps).find(({ key }) => key === lostStep)
  return withoutElement(history.events, lost?.id, lostSince(firstDay)).sort(
    (a, b) => a.occurredAt - b.occurredAt,
  )
}

/** The events after a step has lost its element: people who went on from it never saw it. */
function withoutElement(
  events: readonly DemoEvent[],
  stepId: string | undefined,
  since: number,
): DemoEvent[] {
  const isConcerned = (event: DemoEvent) =>
    event.stepId === stepId && event.occurredAt >= since && missesIt(event.runId)
  const isPast = ({ kind }: DemoEvent) => kind === 'step_completed' || kind === 'step_skipped'
  const wentOn = events.filter(event => isConcerned(event) && isPast(event))
  const runs = new Set(wentOn.map(({ runId }) => runId))
  return events.flatMap((event): DemoEvent[] => {
    if (!isConcerned(event) || !runs.has(event.runId)) return [event]
    if (isPast(event)) return []
    return [event.kind === 'step_viewed' ? { ...event, kind: 'target_missing' } : event]
  })
}

/** What the site says about a person when a run starts. People who pay finish more often. */
function sayPlan(userId: string, own: readonly DemoEvent[]): void {
  const isDone = own.some(({ kind }) => kind === 'flow_completed')
  const plans = isDone ? ['free', 'team', 'team', 'business'] : ['free', 'free', 'team', 'business']
  const plan = new SeededRandom(`plan of ${userId}`).pick(plans)
  for (const event of own) if (event.kind === 'flow_started') event.traits = { plan }
}

class History {
  readonly events: DemoEvent[] = []

  constructor(private readonly random: SeededRandom) {}

  firstVisit(visitor: Visitor, start: number, flows: readonly Flow[]): void {
    const { random } = this
    const before = this.events.length
    const tour = flows.find(({ kind }) => kind === 'tour')
    const checklist = flows.find(({ kind }) => kind === 'checklist')
    const news = flows.find(({ kind }) => kind === 'announcement')
    if (tour && random.chance(0.88)) this.tourRuns(visitor, start, tour)
    const later = start + random.waitMs(240)
    if (checklist && visitor.userId && random.chance(0.6)) this.ticks(visitor, later, checklist)
    if (news && random.chance(0.45)) {
      this.announcement(visitor, start + random.waitMs(1_200), news)
    }
    if (visitor.userId) sayPlan(visitor.userId, this.events.slice(before))
  }

  /** Up to three runs: a person who neither finished nor dismissed the tour may try again on a later day. */
  private tourRuns(visitor: Visitor, start: number, tour: Flow): void {
    let at = start
    for (let run = 0; run < 3; run++) {
      if (this.tourRun(visitor, at, tour) !== 'left' || !this.random.chance(0.4)) return
      at += Math.round(dayMs * this.random.between(0.8, 2.6))
    }
  }

  private tourRun(visitor: Visitor, start: number, tour: Flow): 'done' | 'dismissed' | 'left' {
    const { random } = this
    const report = this.reporter(visitor, start, tour, '/projects')
    let at = start
    report('flow_started', at)
    for (const step of tour.steps) {
      const habit = tourSteps[step.key] ?? otherStep
      const of = { stepId: step.id }
      if (step.target?.required && random.chance(0.02)) {
        at += step.target.waitMs
        report('target_missing', at, of)
        continue
      }
      at += Math.round(random.between(150, 900))
      report('step_viewed', at, of)
      at += random.waitMs(habit.seconds)
      if (random.chance(habit.leaves)) {
        if (random.chance(0.45)) return 'left'
        report('flow_dismissed', at, {
          ...of,
          reason: random.pick(['close_button', 'close_button', 'escape_key', 'not_now']),
        })
        return 'dismissed'
      }
      report(random.chance(habit.skips) ? 'step_skipped' : 'step_completed', at, of)
    }
    report('flow_completed', at + 20)
    return 'done'
  }

  private announcement(visitor: Visitor, start: number, news: Flow): void {
    const { random } = this
    const report = this.reporter(visitor, start, news, '/home')
    const [step, asking] = news.steps
    report('flow_started', start)
    if (!step) return
    const of = { stepId: step.id }
    report('step_viewed', start + 300, of)
    const at = start + 300 + random.waitMs(11)
    if (random.chance(0.58)) {
      report('step_completed', at, of)
      this.recommendation(report, at + 200, asking)
    } else if (random.chance(0.75)) {
      report('flow_dismissed', at, { ...of, reason: 'close_button' })
    }
  }

  /** A person's answer to whether they would recommend Harbor. Most would. */
  private recommendation(report: Report, at: number, step: Step | undefined): void {
    const { random } = this
    if (!step) {
      report('flow_completed', at)
      return
    }
    const of = { stepId: step.id }
    report('step_viewed', at, of)
    const answered = at + random.waitMs(6)
    if (random.chance(0.12)) return
    if (random.chance(0.22)) report('step_skipped', answered, of)
    else {
      const answer = random.pick(scores)
      report('question_answered', answered, { ...of, properties: { answer } })
      report('step_completed', answered + 10, of)
    }
    report('flow_completed', answered + 20)
  }

  /**
   * Items that wait for an event are ticked by that event, which Harbor's back end sends; others are ticked
   * by the page.
   */
  private ticks(visitor: Visitor, start: number, flow: Flow): void {
    const { random } = this
    const report = this.reporter(visitor, start, flow, '/home')
    report('checklist_opened', start)
    const diligence = random.between(0.55, 1.35)
    for (const item of flow.checklist?.items ?? []) {
      const { share, hours } = checklistItems[item.key] ?? otherItem
      if (!random.chance(share * diligence)) continue
      const at = start + random.waitMs(hours * 3_600)
      if (!item.completeOn) report('item_completed', at, { itemId: item.id })
      else {
        this.events.push({
          id: random.idAt(at),
          kind: 'custom',
          ...visitor,
          name: item.completeOn.event,
          occurredAt: at,
          properties: { plan: random.pick(['free', 'team', 'team', 'business']), source: 'api' },
        })
      }
    }
  }

  /** Notes events of one run. */
  private reporter(visitor: Visitor, start: number, flow: Flow, path: string) {
    const { random } = this
    const runId = random.idAt(start)
    const sessionId = random.hex(16)
    return (kind: Event['kind'], at: number, more: Partial<DemoEvent> = {}) => {
      this.events.push({
        id: random.idAt(at),
        kind,
        ...visitor,
        flowId: flow.id,
        runId,
        sessionId,
        occurredAt: at,
        url: `${demoOrigin}${path}`,
        ...more,
      })
    }
  }
}
