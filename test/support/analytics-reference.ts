/**
 * The analytics numbers, worked out the slow way: every question goes through the whole list of
 * events again, straight from the published definitions. Nothing here is shared with the product,
 * because a reference that borrows code from what it checks borrows its mistakes too. Speed does
 * not matter. What matters is that each function can be compared with one sentence of the definitions.
 */

/** One stored event. The order in which events are given carries no meaning. */
export interface RefEvent {
  kind:
    | 'flow_started'
    | 'step_viewed'
    | 'step_completed'
    | 'step_skipped'
    | 'flow_completed'
    | 'flow_dismissed'
    | 'target_missing'
    | 'checklist_opened'
    | 'item_completed'
    | 'custom'
    /** Cairn's own: a tick was taken back. */
    | 'item_reopened'
    | 'question_answered'
    | 'flow_held_out'
  userId?: string
  anonymousId?: string
  flowKey?: string
  flowVersion?: number
  stepKey?: string
  itemKey?: string
  runId?: string
  sessionId?: string
  name?: string
  /** Of a start: the listed traits that it reports. */
  traits?: Record<string, string>
  /** Of an answered question: its answer as JSON. */
  answer?: string
  /** When it occurred, epoch milliseconds. */
  at: number
}

/** What a step asks. The only ratings are those of the Net Promoter Score, and choices allow several at once. */
export type RequestedRef =
  | { type: 'rating' }
  | { type: 'choice'; several: true; choices: { key: string; label: string }[] }
  | { type: 'text' }

/** One frozen version of a flow. */
export interface RefVersion {
  version: number
  /** Epoch milliseconds. */
  publishedAt: number
  steps: { key: string; question?: RequestedRef }[]
  items: { key: string; completeOn: string | null }[]
}

/** A flow that is published throughout; versions ascend and the last one is the current one. */
export interface RefFlow {
  key: string
  versions: RefVersion[]
}

export interface RefQuery {
  flowKey: string
  /** Calendar dates, both inclusive, in the zone. */
  from: string
  to: string
  timezone: string
  version?: number
  /** Set if the answer is to have bins, or periods. */
  distribution?: '1'
  interval?: 'day' | 'week' | 'month'
  /** Set if the answer is to have ways. */
  ways?: '1'
  /** Only runs with these values; null stands for runs that did not say the trait. */
  only?: { trait: string; value: string | null }[]
  /** The trait by which runs are split. */
  by?: string
  /** When it is asked, epoch milliseconds. */
  now: number
}

export interface RefStep {
  key: string
  position: number
  reached: number
  uniqueUsers: number
  completed: number
  skipped: number
  targetMissing: number
  droppedHere: number
  stillHere: number
  activeHere: number
  leftOut?: number
  dropOffRate: number | null
  medianSeconds: number | null
  p90Seconds: number | null
  question?: {
    type: RequestedRef['type']
    answers: number
    average: number | null
    median: number | null
    nps: { score: number | null; promoters: number; passives: number; detractors: number } | null
    distribution: {
      value: number | string
      label: string | null
      count: number
      share: number | null
    }[]
  }
}

export interface RefAnalytics {
  totals: Omit<RefGroup, 'timeToComplete'> & { stalled: number }
  /** Whether the last day is over. */
  isComplete: boolean
  timeToComplete: RefGroup['timeToComplete'] & {
    distribution?: { fromSeconds: number; toSeconds: number | null; count: number }[]
  }
  steps: RefStep[]
  checklist: { items: { key: string; completions: number }[]; completedAll: number } | null
  daily: (RefSpan & { date: string })[]
  periods?: (RefSpan & { from: string; to: string; whole: boolean })[]
  versions: {
    version: number
    publishedAt: string
    starts: number
    completions: number
    completionRate: number | null
    distribution?: number[]
  }[]
  segments?: (RefGroup & { kind: string; value: string | null; values: number })[]
  /** Steps by their keys, with a slash before each. */
  ways?: { from: string | null; to: string | null; runs: number }[]
}

/** The runs that started on a day, or in a period. */
interface RefSpan {
  starts: number
  uniqueUsers: number
  completions: number
  dismissals: number
  complete: boolean
}

/** The numbers of some runs. */
export interface RefGroup {
  starts: number
  uniqueUsers: number
  completions: number
  uniqueCompleters: number
  dismissals: number
  inProgress: number
  completionRate: number | null
  timeToComplete: {
    count: number
    medianSeconds: number | null
    p90Seconds: number | null
    untimed: number
  }
}

export interface RefRun {
  /** `r` + runId, `s` + JSON of [person, session], or `p` + person. */
  key: string
  /** `u` + userId or `a` + anonymousId, so that the two name spaces never meet. */
  person: string
  start: number
  version: number
  outcome: 'completed' | 'dismissed' | 'in_progress'
  /** Times of every completion, reported by the run itself or assigned to it. */
  completions: number[]
  /** The events that are the run's by their own key; assigned facts are not among them. */
  events: RefEvent[]
  /** The completions and ticks without a run that were assigned to it. */
  assigned: RefEvent[]
}

/** An item that was ticked, or whose tick was taken back. */
export interface RefTick {
  person: string
  itemKey: string
  at: number
  isTaken: boolean
  /** The run that it names. */
  runKey?: string
}

/** A moment at which a checklist became complete. */
export interface RefPass {
  at: number
  /** The ticks that completed it. */
  by: RefTick[]
}

/** The person that one event names: a userId wins over an anonymousId. */
export function personOfEvent(event: RefEvent): string {
  if (event.userId !== undefined) return `u${event.userId}`
  if (event.anonymousId !== undefined) return `a${event.anonymousId}`
  throw new Error('an event names a person')
}

/** The key, within its flow, of the run that an event belongs to by itself. */
function runKeyOfEvent(event: RefEvent): string {
  if (event.runId !== undefined) return `r${event.runId}`
  const person = personOfEvent(event)
  if (event.sessionId !== undefined) return `s${JSON.stringify([person, event.sessionId])}`
  return `p${person}`
}

/** A completion or tick that does not say which run it is part of. */
export function isUnattributed(event: RefEvent): boolean {
  return (
    (event.kind === 'flow_completed' || event.kind === 'item_completed') &&
    event.runId === undefined &&
    event.sessionId === undefined
  )
}

/** The version that was in force at a time; before the first publication, the first one. */
export function versionAt(flow: RefFlow, at: number): RefVersion {
  let found = flow.versions[0]!
  for (const version of flow.versions) if (version.publishedAt <= at) found = version
  return found
}

/**
 * Every tick of a checklist's items and every taking back: reported ones, and custom events that an
 * item waits for, which name no run.
 */
export function ticksOf(flow: RefFlow, events: RefEvent[]): RefTick[] {
  const ticks: RefTick[] = []
  for (const event of events) {
    const { at } = event
    const person = personOfEvent(event)
    const isTick = event.kind === 'item_completed' || event.kind === 'item_reopened'
    if (isTick && event.flowKey === flow.key && event.itemKey !== undefined) {
      const isTaken = event.kind === 'item_completed'
      const tick: RefTick = { person, itemKey: event.itemKey, at, isTaken }
      if (isTaken && !isUnattributed(event)) tick.runKey = runKeyOfEvent(event)
      ticks.push(tick)
    }
    if (event.kind === 'custom' && event.name !== undefined) {
      for (const item of currentVersion(flow).items) {
        if (item.completeOn === event.name) {
          ticks.push({ person, itemKey: item.key, at, isTaken: true })
        }
      }
    }
  }
  return ticks
}

/** Up to so many people of a run, runs of a person and people in a party are believed. */
const maxTogether = 16

/** The events of a flow that belong to a run. */
function eventsOfRuns(flow: RefFlow, events: RefEvent[]): RefEvent[] {
  const others: RefEvent['kind'][] = ['custom', 'item_reopened', 'flow_held_out']
  return events.filter(event => event.flowKey === flow.key && !others.includes(event.kind))
}

/** Everybody whom one event names: an anonymousId beside a userId, too. */
function namesIn({ userId, anonymousId }: RefEvent): string[] {
  const names = [`u${userId}`, `a${anonymousId}`]
  return names.filter((_, i) => [userId, anonymousId][i] !== undefined)
}

/**
 * Those who are named together: the two ids of an event of a run, and the people of a run of whom not all are
 * the two ids of one such event.
 */
function namedTogether(flow: RefFlow, events: RefEvent[]): string[][] {
  const ofRuns = eventsOfRuns(flow, events)
  const pairs = ofRuns.map(namesIn).filter(names => names.length > 1)
  const distinctPairs = distinct(pairs.map(pair => JSON.stringify(pair)))
  const firm = ofRuns.filter(event => !isUnattributed(event))
  const runs = distinct(firm.map(runKeyOfEvent)).map(key =>
    firm.filter(event => runKeyOfEvent(event) === key),
  )
  const shared = runs.filter(
    run => distinct(run.map(personOfEvent)).length > 1 || distinct(run.flatMap(namesIn)).length > 2,
  )
  return [
    ...distinctPairs.map(pair => JSON.parse(pair) as string[]),
    ...shared.map(run => distinct(run.flatMap(namesIn))),
  ]
}

/** The people whose ticks count together with a person's: whoever is named together with them. */
export function partyOf(flow: RefFlow, events: RefEvent[], person: string): string[] {
  const shared = namedTogether(flow, events)
  const othersOf = (one: string): string[] | null => {
    const runs = shared.filter(people => people.includes(one))
    const believed = runs.filter(people => people.length <= maxTogether)
    const others = distinct(believed.flat()).filter(other => other !== one)
    return runs.length > maxTogether || others.length > maxTogether ? null : others
  }
  return [person, ...(othersOf(person) ?? []).filter(other => othersOf(other) !== null)]
}

/** Whether an item is ticked for one person after everything that happened up to a moment. */
function standsFor(ticks: RefTick[], person: string, itemKey: string, until: number): boolean {
  const own = ticks.filter(
    tick => tick.person === person && tick.itemKey === itemKey && tick.at <= until,
  )
  if (own.length === 0) return false
  const last = own.filter(tick => tick.at === Math.max(...own.map(({ at }) => at)))
  return last.every(tick => tick.isTaken)
}

/** The ticks that count for a person, and whether an item is ticked by any of them at a moment. */
function ticksTogether(flow: RefFlow, events: RefEvent[], person: string) {
  const party = partyOf(flow, events, person)
  const ticks = ticksOf(flow, events).filter(tick => party.includes(tick.person))
  const stands = (itemKey: string, until: number) =>
    party.some(one => standsFor(ticks, one, itemKey, until))
  return { ticks, stands }
}

/**
 * All the times at which a person's checklist became complete: moments whose ticks left all items of the
 * version in force ticked, for the person or for anybody whose ticks count with theirs. In between it must
 * have been incomplete, which the moment before a later tick, or after one, may show.
 */
export function passesOf(flow: RefFlow, events: RefEvent[], person: string): RefPass[] {
  const { ticks, stands } = ticksTogether(flow, events, person)
  const passes: RefPass[] = []
  let isDone = false
  const moments = ticks.map(tick => tick.at).sort((x, y) => x - y)
  for (const at of moments.filter((moment, i) => moments.indexOf(moment) === i)) {
    const items = versionAt(flow, at).items.map(({ key }) => key)
    if (items.some(key => !stands(key, at - 1))) isDone = false
    const by = ticks.filter(
      tick =>
        tick.at === at &&
        tick.isTaken &&
        !stands(tick.itemKey, at - 1) &&
        standsFor(ticks, tick.person, tick.itemKey, at),
    )
    if (items.some(key => !stands(key, at))) isDone = false
    else if (!isDone && items.length > 0 && by.length > 0) {
      passes.push({ at, by })
      isDone = true
    }
  }
  return passes
}

/** A person's items that are ticked in the end, and since when. */
export function progressOf(
  flow: RefFlow,
  events: RefEvent[],
  person: string,
): { ticked: Record<string, number>; checklistAt: number | null } {
  const { ticks, stands } = ticksTogether(flow, events, person)
  const ticked: Record<string, number> = {}
  for (const itemKey of distinct(ticks.map(tick => tick.itemKey))) {
    const moments = distinct(ticks.map(tick => tick.at)).sort((x, y) => y - x)
    for (const at of moments) {
      if (!stands(itemKey, at)) break
      ticked[itemKey] = at
      if (!stands(itemKey, at - 1)) break
    }
  }
  return { ticked, checklistAt: passesOf(flow, events, person)[0]?.at ?? null }
}

/** All runs of a flow, whenever they started. */
export function runsOf(flow: RefFlow, events: RefEvent[]): RefRun[] {
  const about = eventsOfRuns(flow, events)
  const firm = about.filter(event => !isUnattributed(event))
  const unattributed = about.filter(isUnattributed)

  // Runs from the events that say by themselves which run they are part of.
  const runs: RefRun[] = distinct(firm.map(runKeyOfEvent)).map(key => {
    const own = firm.filter(event => runKeyOfEvent(event) === key)
    return {
      key,
      person: personOfRun(own),
      start: least(own.map(event => event.at)),
      version: 0,
      outcome: 'in_progress',
      completions: own.filter(event => event.kind === 'flow_completed').map(event => event.at),
      events: own,
      assigned: [],
    }
  })

  // Assigns unattributed events, each person's in time order, to the latest run at that time, otherwise to
  // the person's own run, which has started from then on.
  for (const person of distinct(unattributed.map(personOfEvent))) {
    const facts = unattributed.filter(event => personOfEvent(event) === person)
    facts.sort((a, b) => a.at - b.at)
    for (const fact of facts) {
      let run = latestRunAt(runs, person, fact.at)
      if (run === undefined) {
        run = runs.find(other => other.key === `p${person}`)
        if (run === undefined) {
          run = {
            key: `p${person}`,
            person,
            start: fact.at,
            version: 0,
            outcome: 'in_progress',
            completions: [],
            events: [],
            assigned: [],
          }
          runs.push(run)
        }
        run.start = fact.at
      }
      run.assigned.push(fact)
      if (fact.kind === 'flow_completed') run.completions.push(fact.at)
    }
  }

  // The last item's tick completes the run that it names (the greatest, if several ticks of one moment
  // name runs), otherwise the latest run of the people whose ticks count together. Starts no longer
  // change, and this makes no run.
  for (const person of distinct(ticksOf(flow, events).map(tick => tick.person))) {
    for (const { at, by } of passesOf(flow, events, person)) {
      const own = by.filter(tick => tick.person === person)
      if (own.length === 0) continue
      const named = own.flatMap(tick => tick.runKey ?? [])
      const run =
        named.length > 0
          ? runs.find(other => other.key === named.reduce((x, y) => (y > x ? y : x)))
          : latestOf(partyOf(flow, events, person).flatMap(one => latestRunAt(runs, one, at) ?? []))
      run?.completions.push(at)
    }
  }

  for (const run of runs) {
    const named = [...run.events, ...run.assigned].flatMap(event => event.flowVersion ?? [])
    run.version = named.length > 0 ? least(named) : versionAt(flow, run.start).version
    if (run.completions.length > 0) run.outcome = 'completed'
    else if (run.events.some(event => event.kind === 'flow_dismissed')) run.outcome = 'dismissed'
  }
  return runs
}

/**
 * The numbers for one query. `stepRank` is the order of the steps' ids, which decides between two
 * steps at the same position that are both, or both not, of the run's version; step keys decide
 * if it does not.
 */
export function referenceAnalytics(
  flows: RefFlow[],
  events: RefEvent[],
  query: RefQuery,
  stepRank: (key: string) => number = () => 0,
): RefAnalytics {
  const flow = flows.find(other => other.key === query.flowKey)
  if (flow === undefined) throw new Error('the flow asked for is among the flows')
  const current = currentVersion(flow)
  const dayOf = dayFormatter(query.timezone)

  const inRange = runsOf(flow, events).filter(run => {
    const day = dayOf(run.start)
    const isRequested = (query.only ?? []).every(
      ({ trait, value }) => traitOf(run, trait) === value,
    )
    return isRequested && query.from <= day && day <= query.to
  })
  const runs = inRange.filter(run => query.version === undefined || run.version === query.version)
  // A run that begins with its completion has no duration.
  const timesOf = (some: RefRun[]) =>
    some
      .filter(isCompleted)
      .map(run => least(run.completions) - run.start)
      .filter(time => time > 0)
  const groupOf = (some: RefRun[]): RefGroup => {
    const done = some.filter(isCompleted)
    const took = timesOf(some)
    return {
      starts: some.length,
      uniqueUsers: countPeople(some),
      completions: done.length,
      uniqueCompleters: countPeople(done),
      dismissals: some.filter(isDismissed).length,
      inProgress: some.filter(run => run.outcome === 'in_progress').length,
      completionRate: rate(done.length, some.length),
      timeToComplete: {
        count: took.length,
        medianSeconds: percentileSeconds(took, 50),
        p90Seconds: percentileSeconds(took, 90),
        untimed: done.length - took.length,
      },
    }
  }
  const isOver = (date: string) => dayOf(query.now) > date
  const spanOf = (from: string, to: string): RefSpan => {
    const started = runs.filter(run => from <= dayOf(run.start) && dayOf(run.start) <= to)
    return {
      starts: started.length,
      uniqueUsers: countPeople(started),
      completions: started.filter(isCompleted).length,
      dismissals: started.filter(isDismissed).length,
      complete: isOver(to),
    }
  }

  const ticks = ticksOf(flow, events).filter(tick => tick.isTaken)
  const people = distinct(runs.map(run => run.person))

  const { timeToComplete, ...totals } = groupOf(runs)

  return {
    totals: {
      ...totals,
      stalled: runs.filter(run => run.outcome === 'in_progress' && !isActive(run, query.now))
        .length,
    },
    isComplete: isOver(query.to),
    timeToComplete: {
      ...timeToComplete,
      ...(query.distribution && { distribution: binsOf(timesOf(runs)) }),
    },
    steps: listedSteps(flow, runs).map(key => ({
      ...stepNumbers(flow, runs, key, stepRank, query.now),
      ...(query.ways && { leftOut: runs.filter(run => wentPast(flow, run, key)).length }),
    })),
    checklist:
      current.items.length === 0
        ? null
        : {
            items: current.items.map(item => ({
              key: item.key,
              completions: people.filter(person =>
                ticks.some(
                  tick =>
                    tick.itemKey === item.key &&
                    partyOf(flow, events, person).includes(tick.person),
                ),
              ).length,
            })),
            completedAll: people.filter(person => passesOf(flow, events, person).length > 0).length,
          },
    daily: daysBetween(query.from, query.to).map(date => ({ date, ...spanOf(date, date) })),
    ...(query.interval && {
      periods: distinct(
        daysBetween(query.from, query.to).map(day => wholePeriod(day, query.interval!).from),
      ).map(begin => {
        const whole = wholePeriod(begin, query.interval!)
        const from = begin < query.from ? query.from : begin
        const to = whole.to > query.to ? query.to : whole.to
        const isWhole = from === whole.from && to === whole.to
        return { from, to, whole: isWhole, ...spanOf(from, to) }
      }),
    }),
    versions: flow.versions.map(({ version, publishedAt }) => {
      const started = inRange.filter(run => run.version === version)
      const done = started.filter(isCompleted)
      return {
        version,
        publishedAt: new Date(publishedAt).toISOString(),
        starts: started.length,
        completions: done.length,
        completionRate: rate(done.length, started.length),
        ...(query.distribution && {
          distribution: binsOf(timesOf(started)).map(({ count }) => count),
        }),
      }
    }),
    ...(query.by !== undefined && {
      segments: segmentsOf(runs, query.by).map(({ runs, ...of }) => ({ ...of, ...groupOf(runs) })),
    }),
    ...(query.ways && { ways: waysOf(flow, runs, stepRank) }),
  }
}

/** A trait's value in the earliest start that says any traits; among starts of one moment, the least text. */
function traitOf(run: RefRun, trait: string): string | null {
  const said = run.events.filter(event => event.traits !== undefined)
  if (said.length === 0) return null
  const at = least(said.map(event => event.at))
  const first = said.filter(event => event.at === at).map(event => JSON.stringify(event.traits))
  return JSON.parse(minString(first))[trait] ?? null
}

/** The values of a trait, most runs first, then the runs that did not say it. */
function segmentsOf(runs: RefRun[], trait: string) {
  const ofValue = (value: string | null) => runs.filter(run => traitOf(run, trait) === value)
  const values = distinct(runs.flatMap(run => traitOf(run, trait) ?? []))
    .sort((a, b) => (a < b ? -1 : 1))
    .sort((a, b) => ofValue(b).length - ofValue(a).length)
  return [
    ...values.map(value => ({ kind: 'value', value, values: 1, runs: ofValue(value) })),
    { kind: 'not_said', value: null, values: 0, runs: ofValue(null) },
  ].filter(({ runs }) => runs.length > 0)
}

/** How often each stop of a run followed each other: the start, the steps in the order of time, the end. */
function waysOf(flow: RefFlow, runs: RefRun[], stepRank: (key: string) => number) {
  const stops = runs.map(run => [
    null,
    ...stepsInTime(flow, run, stepRank).map(key => `/${key}`),
    run.outcome === 'in_progress' ? null : run.outcome,
  ])
  const keys = listedSteps(flow, runs).map(key => `/${key}`)
  return [null, ...keys].flatMap(from =>
    [...keys, 'completed', 'dismissed', null].flatMap(to => {
      const follow = stops.flatMap(way =>
        way.filter((stop, i) => i > 0 && way[i - 1] === from && stop === to),
      )
      return follow.length === 0 ? [] : [{ from, to, runs: follow.length }]
    }),
  )
}

/** The steps that a run viewed, in the order of their first views; those of one moment by position. */
function stepsInTime(flow: RefFlow, run: RefRun, stepRank: (key: string) => number): string[] {
  const at = (key: string) => firstTime(run, 'step_viewed', key)!
  const isAfter = (a: string, b: string) =>
    at(a) === at(b) ? isFurther(flow, run, stepRank, a, b) : at(a) > at(b)
  return viewedSteps(flow, run).sort((a, b) => (a === b ? 0 : isAfter(a, b) ? 1 : -1))
}

/** Whether a run viewed a later step of its version, and not this one. */
function wentPast(flow: RefFlow, run: RefRun, key: string): boolean {
  const position = positionIn(runVersion(flow, run), key)
  const viewed = viewedSteps(flow, run)
  if (position === null || viewed.includes(key)) return false
  return viewed.some(other => positionInRun(flow, run, other) > position)
}

/** The current version's steps in order, then older ones that the runs saw. */
function listedSteps(flow: RefFlow, runs: RefRun[]): string[] {
  const now = currentVersion(flow).steps.map(step => step.key)
  const seen = distinct(
    runs.flatMap(run =>
      ['step_viewed', 'step_completed', 'step_skipped', 'target_missing'].flatMap(kind =>
        run.events.flatMap(event => (event.kind === kind ? (event.stepKey ?? []) : [])),
      ),
    ),
  )
  const older = seen.filter(key => !now.includes(key) && newestWith(flow, key) !== undefined)
  older.sort((a, b) => {
    const byVersion = newestWith(flow, b)!.version - newestWith(flow, a)!.version
    return byVersion !== 0 ? byVersion : positionInNewest(flow, a) - positionInNewest(flow, b)
  })
  return [...now, ...older]
}

function stepNumbers(
  flow: RefFlow,
  runs: RefRun[],
  key: string,
  stepRank: (key: string) => number,
  now: number,
): RefStep {
  const runsWith = (kind: RefEvent['kind']) =>
    runs.filter(run => firstTime(run, kind, key) !== null)
  const reached = runsWith('step_viewed')
  const dropped = reached.filter(run => !isCompleted(run) && maxViewed(flow, run, stepRank) === key)
  const times = reached.flatMap(run => stepTime(flow, run, key) ?? [])
  const requested = flow.versions
    .flatMap(({ steps }) => steps)
    .find(step => step.key === key && step.question)?.question
  return {
    key,
    position: positionInNewest(flow, key),
    reached: reached.length,
    uniqueUsers: countPeople(reached),
    completed: runsWith('step_completed').length,
    skipped: runsWith('step_skipped').length,
    targetMissing: runsWith('target_missing').length,
    droppedHere: dropped.length,
    stillHere: dropped.filter(
      run =>
        run.outcome === 'in_progress' && run.events.some(({ at }) => at > now - 24 * 3_600_000),
    ).length,
    activeHere: dropped.filter(run => isActive(run, now)).length,
    dropOffRate: rate(dropped.length, reached.length),
    medianSeconds: percentileSeconds(times, 50),
    p90Seconds: percentileSeconds(times, 90),
    ...(requested && { question: questionNumbers(runs, key, requested) }),
  }
}

/** Whether a run in progress had an event of its own in the last seven days, or started in them without one. */
function isActive({ outcome, events, start }: RefRun, now: number): boolean {
  const times = events.length > 0 ? events.map(({ at }) => at) : [start]
  return outcome === 'in_progress' && times.some(at => at > now - 7 * 24 * 3_600_000)
}

/** The last answer of each run; among answers of one moment, the greatest text. */
function answersTo(runs: RefRun[], stepKey: string): unknown[] {
  return runs.flatMap(run => {
    const said = run.events.filter(
      event => event.kind === 'question_answered' && event.stepKey === stepKey,
    )
    if (said.length === 0) return []
    const last = said.map(({ at }) => at).reduce((a, b) => (b > a ? b : a))
    const texts = said.filter(({ at }) => at === last).map(({ answer }) => answer ?? '""')
    return [JSON.parse(texts.reduce((a, b) => (b > a ? b : a)))]
  })
}

function questionNumbers(
  runs: RefRun[],
  stepKey: string,
  requested: RequestedRef,
): NonNullable<RefStep['question']> {
  const given = answersTo(runs, stepKey)
  const answers = given.length
  const none = { type: requested.type, answers, average: null, median: null, nps: null }
  if (requested.type === 'text') return { ...none, distribution: [] }
  const values = requested.type === 'rating' ? [...Array(11).keys()] : requested.choices
  const distribution = values.map(value => {
    const [of, label] = typeof value === 'number' ? [value, null] : [value.key, value.label]
    const count = given.filter(answer =>
      Array.isArray(answer) ? answer.includes(of) : answer === of,
    ).length
    return { value: of, label, count, share: rate(count, answers) }
  })
  if (requested.type === 'choice') return { ...none, distribution }
  const numbers = (given as number[]).sort((a, b) => a - b)
  const promoters = numbers.filter(n => n === 9 || n === 10).length
  const passives = numbers.filter(n => n === 7 || n === 8).length
  const detractors = answers - promoters - passives
  const isAny = answers > 0
  const sum = numbers.reduce((a, b) => a + b, 0)
  return {
    ...none,
    average: rounded(sum, answers, 2),
    median: isAny ? numbers[Math.ceil(answers / 2) - 1]! : null,
    nps: {
      score: rounded(100 * (promoters - detractors), answers, 1),
      promoters,
      passives,
      detractors,
    },
    distribution,
  }
}

/** Milliseconds that a run spent on a step it viewed; null if nothing ended that time. */
function stepTime(flow: RefFlow, run: RefRun, key: string): number | null {
  const viewed = firstTime(run, 'step_viewed', key)!
  const ends = [firstTime(run, 'step_completed', key), firstTime(run, 'step_skipped', key)]
  const ended = ends.filter(at => at !== null)
  if (ended.length > 0) return Math.max(0, least(ended) - viewed)

  const later = viewedSteps(flow, run)
    .filter(other => positionInRun(flow, run, other) > positionInRun(flow, run, key))
    .map(other => firstTime(run, 'step_viewed', other)!)
    .filter(at => at >= viewed)
  return later.length > 0 ? least(later) - viewed : null
}

/** The viewed step that is further on than all other viewed steps. */
function maxViewed(
  flow: RefFlow,
  run: RefRun,
  stepRank: (key: string) => number,
): string | undefined {
  const viewed = viewedSteps(flow, run)
  return viewed.find(key =>
    viewed.every(other => other === key || isFurther(flow, run, stepRank, key, other)),
  )
}

/** Whether the first of two steps that a run viewed is further on. */
function isFurther(
  flow: RefFlow,
  run: RefRun,
  stepRank: (key: string) => number,
  a: string,
  b: string,
): boolean {
  const isOwn = (key: string) => positionIn(runVersion(flow, run), key) !== null
  const [positionA, positionB] = [positionInRun(flow, run, a), positionInRun(flow, run, b)]
  if (positionA !== positionB) return positionA > positionB
  if (isOwn(a) !== isOwn(b)) return isOwn(a)
  if (stepRank(a) !== stepRank(b)) return stepRank(a) > stepRank(b)
  return a > b
}

/** Steps that a run viewed, without those that no version ever had. */
function viewedSteps(flow: RefFlow, run: RefRun): string[] {
  const views = run.events.filter(event => event.kind === 'step_viewed')
  const keys = distinct(views.flatMap(event => event.stepKey ?? []))
  return keys.filter(key => newestWith(flow, key) !== undefined)
}

function firstTime(run: RefRun, kind: RefEvent['kind'], stepKey: string): number | null {
  const found = run.events.filter(event => event.kind === kind && event.stepKey === stepKey)
  return found.length === 0 ? null : least(found.map(event => event.at))
}

function currentVersion(flow: RefFlow): RefVersion {
  return flow.versions[flow.versions.length - 1]!
}

function runVersion(flow: RefFlow, run: RefRun): RefVersion | undefined {
  return flow.versions.find(version => version.version === run.version)
}

function positionIn(version: RefVersion | undefined, stepKey: string): number | null {
  if (version === undefined) return null
  const index = version.steps.findIndex(step => step.key === stepKey)
  return index === -1 ? null : index
}

function newestWith(flow: RefFlow, stepKey: string): RefVersion | undefined {
  return flow.versions.findLast(version => positionIn(version, stepKey) !== null)
}

function positionInNewest(flow: RefFlow, stepKey: string): number {
  return positionIn(newestWith(flow, stepKey), stepKey)!
}

/** A step's position in the run's version, otherwise in the newest version that has the step. */
function positionInRun(flow: RefFlow, run: RefRun, stepKey: string): number {
  return positionIn(runVersion(flow, run), stepKey) ?? positionInNewest(flow, stepKey)
}

/** The least userId that a run's events name, otherwise the least anonymousId. */
function personOfRun(events: RefEvent[]): string {
  const users = events.flatMap(event => event.userId ?? [])
  if (users.length > 0) return `u${minString(users)}`
  return `a${minString(events.flatMap(event => event.anonymousId ?? []))}`
}

/** The person's run that started last, at or before a time; the greatest key among equals. */
function latestRunAt(runs: RefRun[], person: string, at: number): RefRun | undefined {
  return latestOf(runs.filter(run => run.person === person && run.start <= at))
}

/** The one of several runs that started last; the greatest key among equals. */
function latestOf(candidates: RefRun[]): RefRun | undefined {
  return candidates.find(run =>
    candidates.every(
      other =>
        other === run ||
        run.start > other.start ||
        (run.start === other.start && isAfter(run.key, other.key)),
    ),
  )
}

/** Whether the first of two names comes after the second in the order of their UTF-8 bytes. */
function isAfter(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0
}

function isCompleted(run: RefRun): boolean {
  return run.outcome === 'completed'
}

function isDismissed(run: RefRun): boolean {
  return run.outcome === 'dismissed'
}

function countPeople(runs: RefRun[]): number {
  return distinct(runs.map(run => run.person)).length
}

/** Halves go away from zero, computed in integers so that no half is lost to a binary fraction. */
export function rounded(part: number, whole: number, decimals: number): number | null {
  if (whole === 0) return null
  const unit = 10n ** BigInt(decimals)
  const size = (2n * unit * BigInt(Math.abs(part)) + BigInt(whole)) / (2n * BigInt(whole))
  return (part < 0 && size > 0n ? -1 : 1) * (Number(size) / Number(unit))
}

/** Four decimals. */
export const rate = (part: number, whole: number) => rounded(part, whole, 4)

/** Nearest rank: the least value that at least that share of the values does not exceed, rounded. */
export function percentileSeconds(times: number[], percent: number): number | null {
  const found = times.filter(
    time => times.filter(other => other <= time).length * 100 >= percent * times.length,
  )
  return found.length === 0 ? null : roundedTime(least(found)) / 1000
}

/**
 * Rounds, half up, to a multiple of 1, 2, 5, 10, 20, 50 … milliseconds: of the greatest of them that goes
 * into the time 2,000 times.
 */
function roundedTime(ms: number): number {
  let unit = 1
  for (let power = 1; power < 1e9; power *= 10) {
    for (const next of [2, 5, 10]) if (ms >= 2000 * next * power) unit = next * power
  }
  return Math.round(ms / unit) * unit
}

/** Counts times in the bins that the manual describes, each time rounded as medians are. */
function binsOf(times: number[]) {
  const edges = [
    0, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1_200, 3_600, 7_200, 18_000, 36_000, 86_400, 172_800,
    432_000, 864_000, 2_592_000,
  ]
  return edges.map((fromSeconds, i) => {
    const toSeconds = edges[i + 1] ?? null
    const inBin = times
      .map(time => roundedTime(time) / 1000)
      .filter(time => time >= fromSeconds && (toSeconds === null || time < toSeconds))
    return { fromSeconds, toSeconds, count: inBin.length }
  })
}

/** The first and the last date of the day, week or month that a date is in; Monday is 1 January 1900. */
function wholePeriod(date: string, interval: 'day' | 'week' | 'month') {
  if (interval === 'day') return { from: date, to: date }
  if (interval === 'month') {
    const [year, month] = date.split('-').map(Number) as [number, number]
    const days = String(daysInMonth(year, month)).padStart(2, '0')
    return { from: `${date.slice(0, 8)}01`, to: `${date.slice(0, 8)}${days}` }
  }
  const since = Math.round((Date.parse(date) - Date.parse('1900-01-01')) / 86_400_000)
  const monday = Date.parse(date) - (((since % 7) + 7) % 7) * 86_400_000
  const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  return { from: dateOf(monday), to: dateOf(monday + 6 * 86_400_000) }
}

/** The calendar date of an instant in a zone, by the platform's own calendar. */
function dayFormatter(timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return at => {
    const parts = format.formatToParts(at)
    const part = (type: string) => parts.find(found => found.type === type)!.value
    return `${part('year')}-${part('month')}-${part('day')}`
  }
}

/** Every date from one to another, both included, by the calendar alone: time zones do not matter. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = []
  let [year, month, day] = from.split('-').map(Number) as [number, number, number]
  for (;;) {
    const date = [
      String(year).padStart(4, '0'),
      String(month).padStart(2, '0'),
      String(day).padStart(2, '0'),
    ].join('-')
    if (date > to) return days
    days.push(date)
    day += 1
    if (day > daysInMonth(year, month)) {
      day = 1
      month += 1
    }
    if (month > 12) {
      month = 1
      year += 1
    }
  }
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function distinct<T extends string | number>(values: T[]): T[] {
  return values.filter((value, index) => values.indexOf(value) === index)
}

function least(values: number[]): number {
  return values.reduce((a, b) => (b < a ? b : a))
}

function minString(values: string[]): string {
  return values.reduce((a, b) => (b < a ? b : a))
}
