import { version } from '../../core/version.ts'
import { createBrowserStore, inherit } from './browser-store.ts'
import { createEngine, type LoadStage, type LoadTiming, type Who } from './engine.ts'
import { createFlowFeed } from './flow-feed.ts'
import { watchFrame } from './frame.ts'
import { createHistory } from './history.ts'
import type { Inspection } from './inspection/inside.ts'
import { onNavigation } from './navigation.ts'
import { createOutbox } from './outbox.ts'
import { textOf } from './page-values.ts'
import type { Cairn, CairnEvents, Flow, Identified, Identity, Settings } from './parts.ts'
import { createPerson } from './person.ts'
import { createRuns } from './runs.ts'
import { quietly, safely } from './safely.ts'
import { createServerClock } from './server-clock.ts'
import { createSession } from './session.ts'
import type { LoadPart } from './stage-parts.ts'
import { createTabs } from './tabs.ts'
import { createTracked } from './tracked.ts'
import { createTransport } from './transport.ts'
import { uuid } from './uuid.ts'
import { warn } from './warn.ts'

/** How often a page that stays open says that it is alive, milliseconds. */
const beatMs = 60_000
/** How soon the flows are requested again if there was no answer. */
const askAgainMs = 5_000
/** How long to wait for what the server knows about a person, milliseconds. Then this browser decides. */
const patienceMs = 3_000
/** How long to wait for `identify()` unless the page sets it, and the longest delay that a timer takes. */
const identifyMs = 3_000
const maxIdentifyMs = 2 ** 31 - 1

/** The events that listeners can have. */
const eventNames: ReadonlySet<keyof CairnEvents> = new Set<keyof CairnEvents>([
  'flow_started',
  'step_viewed',
  'question_answered',
  'flow_completed',
  'flow_dismissed',
  'item_completed',
  'target_missing',
  'navigate',
  'active',
  'step',
  'checklist',
  'launcher',
])

/** The mark in session storage that opens the panel on the next page of this tab too. */
export const debugMark = 'cairn-debug'

/** How the files that not every page needs are loaded. */
export interface Loads {
  loadStage: LoadStage
  loadPart: LoadPart
  loadTiming: LoadTiming
}

/** Puts the snippet together. None of it throws into the page. */
export function createCairn(
  settings: Settings,
  { loadStage, loadPart, loadTiming }: Loads,
  page: Window,
): Cairn {
  const prefix = `cairn:${settings.key.slice(0, 8)}:`
  safely(() => inherit(prefix, page))
  const tab = uuid()
  const store = createBrowserStore(prefix, page)
  const transport = createTransport(settings, page)
  const person = createPerson(store)
  const sessionId = createSession(store)
  const listeners = new Map<string, Set<(what: never) => void>>()

  const address = () => new URL(page.location.href)
  const url = () => {
    const { origin, pathname, href } = page.location
    return (settings.keepQuery ? href : origin + pathname).slice(0, 2_048)
  }
  /** The last event of each name that still holds. A listener that is added later gets it at once. */
  const latest: Partial<CairnEvents> = {
    active: { flowKeys: [] },
    step: null,
    checklist: null,
    launcher: null,
  }
  const tell = <Name extends keyof CairnEvents>(name: Name, what: CairnEvents[Name]) => {
    if (name in latest) latest[name] = what
    for (const listener of listeners.get(name) ?? []) safely(() => listener(what as never))
  }

  /** Whether anybody can see the page, and whether anybody ever could. */
  let isSeen = false
  let wasSeen = false
  let who: Who = waitsFor(settings) ? 'pending' : 'guessed'
  /** Stops waiting for `identify()`: it is whoever is known by now. */
  const stopWaiting = () => {
    if (who !== 'pending') return
    who = 'guessed'
    applyConsent()
    engine.identified()
  }
  // Added before the outbox's listener, which hands over what is left to be sent.
  page.addEventListener('pagehide', () => safely(stopWaiting))

  const clock = createServerClock(store)
  const common = { store, transport, sessionId, url, version, page, clock }
  const history = createHistory(store)
  const feed = createFlowFeed({
    ...common,
    user: () => (isAllowed() === true && person.current.userId !== null ? person.current : null),
    onHistory({ userId }, byFlow, events = {}) {
      history.learn(`u${userId}`, byFlow)
      engine.timed(timing => timing.learn(`u${userId}`, events))
    },
  })
  const outbox = createOutbox({
    ...common,
    tab,
    person: () => person.current,
  })
  const runs = createRuns(store)
  const tracked = createTracked(store)
  const engine = createEngine({
    ...common,
    outbox,
    feed,
    history,
    loadTiming,
    person,
    isSeen: () => isSeen,
    tell,
    hasTracked: name => tracked.has(person.name, name),
    who: () => who,
    address,
    loadStage,
    locale: settings.locale,
    runs,
    hold: createTabs(prefix, tab, store, page),
  })

  let consented: boolean | null = null
  /** An answer on consent holds as long as the page, even if the page clears its storage. */
  const storedConsent = () => {
    consented = store.get<boolean>('consent') ?? consented
    return consented
  }

  /**
   * Whether this person may be identified and reported on: by their consent, otherwise by what their browser
   * asks, if the organisation honours that. Null until it is known whether it does, and until somebody sees
   * this page.
   */
  const isAllowed = (): boolean | null => {
    if (!wasSeen) return null
    const consent = storedConsent()
    if (consent !== null || !asksNotToBeTracked(page)) return consent ?? true
    const honours = feed.honoursDoNotTrack()
    return honours === null ? null : !honours
  }

  let applied: boolean | null = null
  /** Called whenever that answer may have changed. */
  const applyConsent = () => {
    const allowed = isAllowed()
    if (allowed !== applied) change(allowed)
    if (allowed === true && who !== 'pending') outbox.speak()
  }

  const change = (allowed: boolean | null) => {
    applied = allowed
    if (allowed === true) {
      store.allow(true)
      person.save()
    } else if (allowed === false) {
      outbox.silence()
      forget()
    }
  }

  /** Forgets everything except a refusal. */
  const forget = () => {
    const consent = storedConsent()
    store.forget('consent')
    store.allow(true)
    if (consent !== null) store.set('consent', consent)
    store.allow(false)
  }

  const take = (flows: readonly Flow[]) => {
    applyConsent()
    engine.take(flows)
  }

  const beat = async () => {
    if (page.document.visibilityState === 'hidden' || !isSeen || isAllowed() !== true) return
    if (await feed.beat(engine.hasList())) take(await feed.refresh())
  }

  let requests = 0
  let isAsking = false
  /** Callers that wait for what the server has about the current person. */
  const unanswered: (() => void)[] = []
  const verdict = () => {
    const { name } = person
    return new Promise<Identified>(resolve => {
      const answer = () => resolve(name === person.name ? feed.identified() : 'alone')
      if (hasBegun && !isAsking) answer()
      else unanswered.push(answer)
      // A page that nobody sees asks nobody.
      if (!hasBegun) page.setTimeout(answer, patienceMs)
    })
  }

  /** Requests the flows, and what the server knows about the current person, before anything new begins. */
  const ask = async (): Promise<void> => {
    const mine = ++requests
    isAsking = true
    const goOn = () => {
      if (mine !== requests) return
      isAsking = false
      engine.wait(false)
      for (const answer of unanswered.splice(0)) answer()
    }
    let flows: readonly Flow[]
    // Somebody may have been identified meanwhile. What is known about them is waited for as long.
    do {
      engine.wait(true)
      const patience = page.setTimeout(() => {
        if (feed.areKnown()) take(feed.known())
        goOn()
      }, patienceMs)
      flows = await feed.flows()
      page.clearTimeout(patience)
    } while (feed.areKnown() && !feed.isCurrent())
    take(flows)
    goOn()
  }

  let hasBegun = false
  /** Asks about a person who was identified just now. If no flows are known yet, `learn` is already asking. */
  const askAgain = async () => {
    if (hasBegun && feed.areKnown() && !feed.isCurrent()) await ask()
  }

  /** Retries until the flows are known: that a server was busy, or down, is no reason to show none. */
  const learn = async (): Promise<void> => {
    await ask()
    if (feed.areKnown()) return beat()
    page.setTimeout(quietly(learn), Math.max(transport.pauseMs('flows'), askAgainMs))
  }

  /** Runs after the calls that have waited, because one of them may refuse consent. */
  const begin = () => {
    hasBegun = true
    applyConsent()
    if (who === 'pending') page.setTimeout(() => safely(stopWaiting), identifyMsOf(settings))
    quietly(learn)()
    page.setInterval(quietly(beat), beatMs)
    onNavigation(page, engine.moved)
    for (const event of ['visibilitychange', 'DOMContentLoaded']) {
      page.document.addEventListener(event, () => safely(engine.consider))
    }
    page.addEventListener('pageshow', ({ persisted }) => {
      if (!persisted) return
      person.recall()
      safely(engine.returned)
    })
    safely(() => page.sessionStorage[debugMark] && cairn.debug(true))
    // An answer on consent in one tab holds in all tabs.
    store.onChange('consent', () => safely(applyConsent))
  }

  /** Called when somebody sees the page, and whenever it is in a frame that is hidden, or shown again. */
  const see = (is: boolean) => {
    isSeen = is
    wasSeen ||= is
    if (is && !hasBegun) queueMicrotask(() => safely(begin))
    else if (is) engine.consider()
    else engine.clear()
  }
  const watch = () =>
    page.parent === page ? see(true) : watchFrame(page, is => safely(() => see(is)))
  if (isPrerendering(page)) {
    const listener = () => safely(watch)
    page.document.addEventListener('prerenderingchange', listener, { once: true })
  } else watch()
  store.allow(isAllowed() === true)

  let inspecting: Promise<Inspection> | undefined
  /** Creates it only once, because the panel keeps what it has recorded. */
  const inspection = () => {
    inspecting ??= loadPart('inspection').then(({ createInspection }) =>
      createInspection({
        ...common,
        settings,
        engine,
        feed,
        person,
        history,
        runs,
        storedConsent,
        isAllowed,
        who: () => who,
      }),
    )
    return inspecting
  }
  /** The file for this may fail to load. Then the page has to do without. */
  const inspect = async <Result>(look: (at: Inspection) => Result, otherwise: Result) => {
    try {
      const at = await inspection()
      await verdict()
      return look(at)
    } catch {
      inspecting = undefined
      warn('debug panel could not be loaded')
      return otherwise
    }
  }

  const cairn: Cairn = {
    identify(userId, traits, userHash) {
      const before = person.name
      const wasStranger = person.current.userId === null
      const is = person.identify(userId, traits, userHash)
      if (is === 'nobody') {
        warn('identify() needs a user id, which is a text')
        return Promise.resolve<Identified>('invalid')
      }
      if (/^(undefined|null|NaN)$|^\s|\s$/.test(userId)) {
        warn(`identify() got "${userId}", which does not look like a user id`)
      }
      if (is === 'same' && who === 'identified') return verdict()
      if (who === 'pending') outbox.rename(wasStranger)
      if (is === 'other' && wasStranger) {
        // What is shown stays, if it is for them too.
        history.adopt(before, person.name)
        const { name } = person
        engine.timed(timing => timing.adopt(before, name))
        runs.adopt(before, person.name)
        tracked.adopt(before, person.name)
      } else if (is === 'other') {
        engine.changedPerson(before)
        store.remove('session')
      }
      who = 'identified'
      if (hasBegun) applyConsent()
      quietly(askAgain)()
      engine.identified()
      return verdict()
    },
    group(id, traits) {
      if (!person.group(id, traits)) return warn('group() needs an id or null')
      engine.identified()
    },
    track(name, properties) {
      const named = textOf(name ?? '', 64)
      if (named === '') return warn('track() needs a name')
      const id = outbox.report({ kind: 'custom', name: named, ...(properties && { properties }) })
      tracked.note(person.name, named)
      engine.tracked(named, id)
    },
    start: flowKey => engine.start(String(flowKey)),
    stop: () => engine.stop(),
    highlight: engine.highlight,
    reset(next?: Identity) {
      if (who === 'identified') who = 'guessed'
      engine.clear()
      person.reset()
      store.remove('session')
      const met = next && cairn.identify(next.userId, next.traits, next.userHash)
      engine.consider()
      return met as Promise<Identified>
    },
    isActive(flowKey) {
      const active = engine.active()
      return flowKey === undefined ? active.length > 0 : active.includes(String(flowKey))
    },
    progress: flowKey => engine.progress(String(flowKey)),
    flows: () => inspect(at => at.flows(), []),
    why: flowKey => inspect(at => at.why(String(flowKey)), null),
    debug: isOpen => void inspect(at => at.show(isOpen), undefined),
    on(name, listener) {
      if (!eventNames.has(name)) warn(`on() knows no "${name}", but ${[...eventNames].join(', ')}`)
      const ofName = listeners.get(name) ?? new Set()
      listeners.set(name, ofName.add(listener))
      if (name in latest) safely(() => listener(latest[name] as never))
      return () => void ofName.delete(listener)
    },
    consent(isGiven) {
      store.set('consent', isGiven === true)
      applyConsent()
      // Without consent nobody need be identified. Consent does not say who has given it.
      if (isGiven !== true) stopWaiting()
      quietly(askAgain)()
    },
  }
  for (const name of Object.keys(cairn) as (keyof Cairn)[]) {
    const own = cairn[name] as (...args: never[]) => unknown
    Object.assign(cairn, { [name]: (...args: never[]) => safely(() => own(...args)) })
  }
  return cairn
}

function waitsFor({ identify }: Settings): boolean {
  const waits = identify === 'wait'
  if (identify !== undefined && !waits) warn(`data-identify knows "wait" alone, not "${identify}"`)
  return waits
}

function identifyMsOf({ identifyTimeoutMs = identifyMs }: Settings): number {
  if (identifyTimeoutMs >= 0) return Math.min(identifyTimeoutMs, maxIdentifyMs)
  warn('data-identify-timeout needs milliseconds')
  return identifyMs
}

/** "Do Not Track", and Global Privacy Control, which has taken its place. */
function asksNotToBeTracked({ navigator }: Window): boolean {
  const { globalPrivacyControl } = navigator as { globalPrivacyControl?: boolean }
  return navigator.doNotTrack === '1' || globalPrivacyControl === true
}

/** Whether the browser only prepares the page, in case somebody goes there. */
const isPrerendering = ({ document }: Window): boolean =>
  (document as { prerendering?: boolean }).prerendering === true
