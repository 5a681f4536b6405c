import fc from 'fast-check'
import type { RefEvent, RefFlow, RefVersion, RequestedRef } from './analytics-reference.ts'

/**
 * Random event histories for comparing two ways of counting. They are small worlds on purpose: few
 * people, few run and session names, few instants, so that the cases where definitions bite (a
 * shared run, two runs that start together, a completion before anything else) come up all the
 * time instead of once in a million. Everything is drawn as an index into such a small world, which
 * keeps a failing history shrinkable to a handful of events.
 */

export interface HistoryOptions {
  /** The middle of the history, epoch milliseconds. */
  anchor: number
  /** Names of the flows, one each; two unless given. */
  flowKeys?: string[]
  minEvents?: number
  maxEvents?: number
  /**
   * Whether people, runs and sessions may have names that sort or join in unexpected ways: upper
   * case, characters beyond the basic plane (whose order differs between UTF-16 and UTF-8), quotes
   * and brackets, the letters that keys are prefixed with. True unless given.
   */
  oddNames?: boolean
}

export interface History {
  flows: RefFlow[]
  events: RefEvent[]
}

const minute = 60_000
const day = 24 * 60 * minute
/** How far a history reaches to either side of its anchor. */
export const reach = 20 * day

/**
 * Anchors with as many clock changes as possible in reach. Spring: New York on 8 March, Berlin on
 * 29 March, Lord Howe on 5 April. Autumn: Lord Howe on 4 October, Berlin on 25 October, New York on
 * 1 November.
 */
export const springAnchor = Date.UTC(2026, 2, 22, 12)
export const autumnAnchor = Date.UTC(2026, 9, 18, 12)

/** Zones worth asking these histories in: whole, half and quarter hours, either hemisphere. */
export const historyZones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
]

/** Minutes east of Greenwich that those zones have at one time or another. */
const zoneOffsets = [0, 60, 120, -240, -300, 345, 630, 660, 840, -660]

const stepKeys = ['intro', 'menu', 'plan', 'team', 'theme', 'finish']
/** Steps that ask something, in all versions that have them. */
const requested: Readonly<Record<string, RequestedRef>> = {
  plan: { type: 'rating' },
  team: {
    type: 'choice',
    several: true,
    choices: ['a', 'b', 'c'].map(key => ({ key, label: key.toUpperCase() })),
  },
  theme: { type: 'text' },
}
const ratings = [0, 6, 7, 8, 9, 10]
const chosen = [['a'], ['a', 'b'], ['b', 'c'], ['c']]

/** An answer to a step's question, in the form in which it is counted. */
const answerTo = ({ type }: RequestedRef, index: number) =>
  JSON.stringify(
    type === 'rating' ? pick(ratings, index) : type === 'choice' ? pick(chosen, index) : '',
  )

const itemKeys = ['profile', 'invite', 'install']
const customNames = ['profile_saved', 'invite_sent', 'page_opened']

const plans = ['free', 'pro', '=1+1', 'a:b;"c"', '\u{1f600}']

const plainNames = ['ann', 'bob', 'cy']
const oddNames = ['ann', 'Bob', 'uann', '\u{1f600}', '\uff5e', 'x","y', '"]']
const plainRunIds = ['1', '2', '3']
const oddRunIds = ['1', 'p1', 'ann', '\u{1f600}', '\uff5e']

/** A member of one of the small worlds, by an index, for which any natural number will do. */
function pick<T>(values: readonly T[], index: number): T {
  return values[index % values.length]!
}

const index = fc.nat({ max: 59 })

/** An instant in reach: a midnight of some zone or the moment next to it, or any at all. */
function momentArbitrary(anchor: number): fc.Arbitrary<number> {
  const midnight = fc
    .record({
      days: fc.integer({ min: -19, max: 19 }),
      offset: fc.constantFrom(...zoneOffsets),
      beside: fc.constantFrom(0, -1, 1),
    })
    .map(({ days, offset, beside }) => {
      const utc = Math.floor(anchor / day) * day + days * day
      return clamp(utc - offset * minute + beside, anchor)
    })
  const any = fc.integer({ min: -reach, max: reach }).map(distance => anchor + distance)
  return fc.oneof({ weight: 2, arbitrary: midnight }, { weight: 1, arbitrary: any })
}

function clamp(at: number, anchor: number): number {
  return Math.min(Math.max(at, anchor - reach), anchor + reach)
}

const versionArbitrary = fc.record({
  steps: fc.shuffledSubarray(stepKeys, { minLength: 1, maxLength: 4 }),
  items: fc.oneof(
    { weight: 1, arbitrary: fc.constant<string[]>([]) },
    { weight: 3, arbitrary: fc.shuffledSubarray(itemKeys, { minLength: 1 }) },
  ),
  completeOn: fc.tuple(completeOn(), completeOn(), completeOn()),
})

/** Two items may wait for the same event, in one flow or in two. */
function completeOn(): fc.Arbitrary<string | null> {
  return fc.option(fc.constantFrom(...customNames), { freq: 2 })
}

/** A flow without the times of its versions, which come from the history's own instants. */
const flowArbitrary = fc.record({
  versions: fc.array(versionArbitrary, { minLength: 2, maxLength: 3 }),
  published: fc.tuple(index, index, index),
})

const kindArbitrary = fc.oneof(
  { weight: 3, arbitrary: fc.constant<RefEvent['kind']>('flow_started') },
  { weight: 8, arbitrary: fc.constant<RefEvent['kind']>('step_viewed') },
  { weight: 4, arbitrary: fc.constant<RefEvent['kind']>('step_completed') },
  { weight: 2, arbitrary: fc.constant<RefEvent['kind']>('step_skipped') },
  { weight: 4, arbitrary: fc.constant<RefEvent['kind']>('flow_completed') },
  { weight: 3, arbitrary: fc.constant<RefEvent['kind']>('flow_dismissed') },
  { weight: 2, arbitrary: fc.constant<RefEvent['kind']>('target_missing') },
  { weight: 6, arbitrary: fc.constant<RefEvent['kind']>('question_answered') },
  { weight: 1, arbitrary: fc.constant<RefEvent['kind']>('checklist_opened') },
  { weight: 7, arbitrary: fc.constant<RefEvent['kind']>('item_completed') },
  { weight: 4, arbitrary: fc.constant<RefEvent['kind']>('custom') },
)

const eventArbitrary = fc.record({
  kind: kindArbitrary,
  person: index,
  flow: index,
  version: fc.option(index, { freq: 2 }),
  step: index,
  item: index,
  name: index,
  run: fc.oneof(
    { weight: 4, arbitrary: fc.constant('none' as const) },
    { weight: 3, arbitrary: fc.constant('run' as const) },
    { weight: 3, arbitrary: fc.constant('session' as const) },
    { weight: 1, arbitrary: fc.constant('both' as const) },
  ),
  runId: index,
  sessionId: index,
  moment: index,
  /** Mostly nothing, so that events of one moment share their very millisecond. */
  later: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.constantFrom(1, -1, 999, 1000) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 90 * minute }) },
  ),
})

/** Anonymous, known, or known with the anonymous name still beside it. */
const personArbitrary = fc.record({
  as: fc.oneof(
    { weight: 3, arbitrary: fc.constant('user' as const) },
    { weight: 3, arbitrary: fc.constant('anonymous' as const) },
    { weight: 2, arbitrary: fc.constant('both' as const) },
  ),
  user: index,
  anonymous: index,
  /**
   * Someone who only ever sends custom events ticks items without a run; someone whose reports all
   * name one run that others share may have none that is theirs; someone who names none has the
   * one run whose start a completion can move; and someone whose completions and ticks name none
   * leaves them all to be assigned among several runs.
   */
  habit: fc.oneof(
    { weight: 5, arbitrary: fc.constant('any' as const) },
    { weight: 1, arbitrary: fc.constant('customs' as const) },
    { weight: 1, arbitrary: fc.constant('one run' as const) },
    { weight: 1, arbitrary: fc.constant('no runs' as const) },
    { weight: 3, arbitrary: fc.constant('unattributed' as const) },
  ),
})

/** Flows with two or three versions, and what three to six people did with them. */
export function historyArbitrary(options: HistoryOptions): fc.Arbitrary<History> {
  const { anchor, flowKeys = ['welcome', 'setup'], minEvents = 0, maxEvents = 60 } = options
  const odd = options.oddNames ?? true
  const names = odd ? oddNames : plainNames
  const runIds = odd ? oddRunIds : plainRunIds
  const size = flowKeys.length

  return fc
    .record({
      flows: fc.array(flowArbitrary, { minLength: size, maxLength: size }),
      people: fc.array(personArbitrary, { minLength: 3, maxLength: 6 }),
      moments: fc.uniqueArray(momentArbitrary(anchor), { minLength: 4, maxLength: 9 }),
      // Without this, an array is short more often than not, and short histories collide rarely.
      events: fc.array(eventArbitrary, {
        minLength: minEvents,
        maxLength: maxEvents,
        size: 'max',
      }),
    })
    .map(raw => {
      const flows = raw.flows.map(({ versions, published }, at): RefFlow => {
        const times = publishTimes(raw.moments, published.slice(0, versions.length), anchor)
        return {
          key: flowKeys[at]!,
          versions: versions.map(
            (version, n): RefVersion => ({
              version: n + 1,
              publishedAt: times[n]!,
              steps: version.steps.map(key => ({
                ...{ key },
                ...(requested[key] && { question: requested[key] }),
              })),
              items: version.items.map(key => ({
                key,
                completeOn: version.completeOn[itemKeys.indexOf(key)]!,
              })),
            }),
          ),
        }
      })
      const events = raw.events.map((drawn): RefEvent => {
        const person = pick(raw.people, drawn.person)
        const at = clamp(pick(raw.moments, drawn.moment) + drawn.later, anchor)
        const event: RefEvent = { kind: person.habit === 'customs' ? 'custom' : drawn.kind, at }
        if (person.as !== 'anonymous') event.userId = pick(names, person.user)
        if (person.as !== 'user') event.anonymousId = pick(names, person.anonymous)
        if (drawn.run === 'run' || drawn.run === 'both') event.runId = pick(runIds, drawn.runId)
        if (drawn.run === 'session' || drawn.run === 'both') {
          event.sessionId = pick(runIds.slice(0, 3), drawn.sessionId)
        }
        if (person.habit === 'one run') event.runId = runIds[0]!
        if (person.habit === 'no runs' || (person.habit === 'unattributed' && isFact(event))) {
          delete event.runId
          delete event.sessionId
        }
        if (event.kind === 'custom') {
          event.name = pick(customNames, drawn.name)
          return event
        }
        // One flow gets more events than the others, otherwise runs would be spread too thin.
        const flow = flows[drawn.flow % 4 === 3 ? flows.length - 1 : 0]!
        event.flowKey = flow.key
        // A start has no other use for `name`. Most starts say something about their person.
        if (event.kind === 'flow_started' && drawn.name % 4 > 0) {
          event.traits = { plan: pick(plans, drawn.name), ...(drawn.name % 2 > 0 && { size: '2' }) }
        }
        if (drawn.version !== null) event.flowVersion = pick(flow.versions, drawn.version).version
        if (isAboutStep(drawn.kind)) {
          event.stepKey = pick(
            everOf(flow, version => version.steps),
            drawn.step,
          )
        }
        if (event.kind === 'question_answered') {
          const question = requested[event.stepKey ?? '']
          if (question) event.answer = answerTo(question, drawn.name)
          else event.kind = 'step_viewed'
        }
        if (drawn.kind === 'item_completed') {
          const items = everOf(flow, version => version.items)
          if (items.length === 0) event.kind = 'checklist_opened'
          else event.itemKey = pick(items, drawn.item)
        }
        return event
      })
      return { flows, events }
    })
}

/** A history, and what is done while it goes on. */
export const lifeArbitrary = <Act>(act: fc.Arbitrary<Act>) =>
  historyArbitrary({ anchor: autumnAnchor, minEvents: 10, maxEvents: 60 }).chain(history =>
    fc.record({
      history: fc.constant(history),
      acts: fc.array(act, { minLength: 4, maxLength: 24, size: 'max' }),
      // As they occur, or in any order. In any order, most of a run may be deleted before it has begun.
      order: fc.oneof(
        fc.constant(byTime(history)),
        fc.shuffledSubarray([...history.events.keys()], { minLength: history.events.length }),
      ),
    }),
  )

const byTime = ({ events }: History) =>
  [...events.keys()].toSorted((a, b) => events[a]!.at - events[b]!.at)

/** Publication times: ascending, all different, and at the very instants of events if those suffice. */
function publishTimes(moments: number[], picks: number[], anchor: number): number[] {
  const times = picks.map(n => pick(moments, n)).sort((a, b) => a - b)
  for (let n = 1; n < times.length; n++) {
    if (times[n]! <= times[n - 1]!) times[n] = times[n - 1]! + 1
  }
  // Now and then everything was published long before, which is what most real histories look like.
  return picks[0]! % 4 === 0 ? times.map((_, n) => anchor - reach - day * (9 - n)) : times
}

function isFact(event: RefEvent): boolean {
  return event.kind === 'flow_completed' || event.kind === 'item_completed'
}

function isAboutStep(kind: RefEvent['kind']): boolean {
  return kind.startsWith('step_') || kind === 'target_missing' || kind === 'question_answered'
}

/** Keys that any version of a flow ever had: reports about those are accepted for good. */
function everOf(flow: RefFlow, of: (version: RefVersion) => { key: string }[]): string[] {
  return [...new Set(flow.versions.flatMap(version => of(version).map(({ key }) => key)))]
}
