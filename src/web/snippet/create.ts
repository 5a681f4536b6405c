import { version } from '../../core/version.ts'
import { createBrowserStore, inherit } from './browser-store.ts'
import { createEngine, type Who } from './engine.ts'
import { createFlowFeed } from './flow-feed.ts'
import { createHistory } from './history.ts'
import { onNavigation } from './navigation.ts'
import { createOutbox } from './outbox.ts'
import { textOf } from './page-values.ts'
import type { Cairn, Flow, Settings, Told } from './parts.ts'
import { createPerson } from './person.ts'
import { createRuns } from './runs.ts'
import { quietly, safely } from './safely.ts'
import { createSession } from './session.ts'
import type { Stage, StageDeps } from './stage.ts'
import { createTabs } from './tabs.ts'
import { createTransport } from './transport.ts'
import { uuid } from './uuid.ts'
import { warn } from './warn.ts'

/** How often a page that stays open says that it lives, milliseconds. */
const beatMs = 60_000
/** How soon the flows are asked for again where there was no answer. */
const askAgainMs = 5_000
/** How long it is waited for what the server knows of a person, milliseconds: then this browser decides. */
const patienceMs = 3_000
/** How long it is waited for `identify()` unless the page says so, and at most: timers count no further. */
const identifyMs = 3_000
const longestIdentifyMs = 2 ** 31 - 1

/** What listeners can be told of. */
const told: ReadonlySet<keyof Told> = new Set<keyof Told>([
  'flow_started',
  'step_viewed',
  'flow_completed',
  'flow_dismissed',
  'item_completed',
  'target_missing',
])

export type LoadStage = () => Promise<(deps: StageDeps) => Stage>

/** Puts the snippet together. Nothing of it throws into the page. */
export function createCairn(settings: Settings, loadStage: LoadStage, page: Window): Cairn {
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
  const tell = <Name extends keyof Told>(name: Name, what: Told[Name]) => {
    for (const listener of listeners.get(name) ?? []) safely(() => listener(what as never))
  }

  let who: Who = waitsFor(settings) ? 'awaited' : 'guessed'
  /** Whoever it is by now. */
  const waitNoLonger = () => {
    if (who !== 'awaited') return
    who = 'guessed'
    heed()
    engine.met()
  }
  // Before what is left to be sent is handed over.
  page.addEventListener('pagehide', () => safely(waitNoLonger))

  const common = { store, transport, sessionId, url, version, page }
  const history = createHistory(store)
  const feed = createFlowFeed({
    ...common,
    user: () => (isAllowed() === true && person.current.userId !== null ? person.current : null),
    learned: ({ userId }, told) => history.learn(`u${userId}`, told),
  })
  const outbox = createOutbox({
    ...common,
    tab,
    person: () => person.current,
    isHeard: feed.isHeard,
  })
  const runs = createRuns(store)
  const engine = createEngine({
    outbox,
    transport,
    feed,
    history,
    person,
    page,
    tell,
    who: () => who,
    address,
    loadStage,
    runs,
    hold: createTabs(prefix, tab, store, page),
  })

  let consented: boolean | null = null
  /** Once it was said it holds as long as the page, also where the page clears its storage. */
  const consentSaid = () => {
    consented = store.get<boolean>('consent') ?? consented
    return consented
  }

  /**
   * Whether this person may be told apart and reported on: as they have said, else as their browser
   * asks where the organisation heeds that; null as long as it is not known whether it does, or whether
   * anybody will ever see this page.
   */
  const isAllowed = (): boolean | null => {
    if (isPrerendering(page)) return null
    const consent = consentSaid()
    if (consent !== null || !asksNotToBeTracked(page)) return consent ?? true
    const honours = feed.honoursDoNotTrack()
    return honours === null ? null : !honours
  }

  let heeded: boolean | null = null
  /** Called whenever the answer may be another. */
  const heed = () => {
    const allowed = isAllowed()
    if (allowed !== heeded) change(allowed)
    if (allowed === true && who !== 'awaited') outbox.speak()
  }

  const change = (allowed: boolean | null) => {
    heeded = allowed
    if (allowed === true) {
      store.allow(true)
      person.save()
    } else if (allowed === false) {
      outbox.silence()
      forget()
    }
  }

  /** Nothing but a refusal stays behind. */
  const forget = () => {
    const consent = consentSaid()
    store.forget('consent')
    store.allow(true)
    if (consent !== null) store.set('consent', consent)
    store.allow(false)
  }

  const take = (flows: readonly Flow[]) => {
    heed()
    engine.take(flows)
  }

  const beat = async () => {
    if (page.document.visibilityState === 'hidden' || isAllowed() !== true) return
    if (await feed.beat(engine.hasList())) take(await feed.refresh())
  }

  let asked = 0
  /** Asks for the flows, and for what the server knows of who is there, before anything new begins. */
  const ask = async (): Promise<void> => {
    const mine = ++asked
    const goOn = () => {
      if (mine === asked) engine.wait(false)
    }
    let flows: readonly Flow[]
    // Somebody may have been named meanwhile, and what is known of them is waited for as long.
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
  /** Whoever has been named just now; where the flows are not known yet, `learn` is at it. */
  const meet = async () => {
    if (hasBegun && feed.areKnown() && !feed.isCurrent()) await ask()
  }

  /** Until the flows are known: that a server was busy, or away, is no reason to show none. */
  const learn = async (): Promise<void> => {
    await ask()
    if (feed.areKnown()) return beat()
    page.setTimeout(quietly(learn), Math.max(transport.pauseMs('flows'), askAgainMs))
  }

  /** Not before calls that have waited, of which one may refuse consent. */
  const begin = () => {
    hasBegun = true
    heed()
    if (who === 'awaited') page.setTimeout(() => safely(waitNoLonger), identifyMsOf(settings))
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
    // Said in one tab, it is said in all.
    store.onChange('consent', () => safely(heed))
  }

  store.allow(isAllowed() === true)
  if (isPrerendering(page)) {
    const listener = () => safely(begin)
    page.document.addEventListener('prerenderingchange', listener, { once: true })
  } else queueMicrotask(() => safely(begin))

  const cairn: Cairn = {
    identify(userId, traits, userHash) {
      const before = person.name
      const wasStranger = person.current.userId === null
      const is = person.identify(userId, traits, userHash)
      if (is === 'nobody') return warn('identify() needs a user id, which is a text')
      if (is === 'same' && who === 'said') return
      if (who === 'awaited') outbox.rename(wasStranger)
      if (is === 'other' && wasStranger) {
        // What is shown stays, as far as it is for them.
        history.adopt(before, person.name)
        runs.adopt(before, person.name)
      } else if (is === 'other') {
        engine.mistook(before)
        store.remove('session')
      }
      who = 'said'
      if (hasBegun) heed()
      quietly(meet)()
      engine.met()
    },
    track(name, properties) {
      const named = textOf(name ?? '', 64)
      if (named === '') return warn('track() needs a name')
      outbox.report({ kind: 'custom', name: named, ...(properties && { properties }) })
      engine.tracked(named)
    },
    start: flowKey => engine.start(String(flowKey)),
    stop: () => engine.stop(),
    reset() {
      if (who === 'said') who = 'guessed'
      engine.clear()
      person.reset()
      store.remove('session')
      engine.consider()
    },
    on(name, listener) {
      if (!told.has(name)) warn(`on() knows no "${name}", but ${[...told].join(', ')}`)
      const ofName = listeners.get(name) ?? new Set()
      listeners.set(name, ofName.add(listener))
      return () => void ofName.delete(listener)
    },
    consent(isGiven) {
      store.set('consent', isGiven === true)
      heed()
      // Whoever refuses to be told apart need not be named. Consent does not say who has given it.
      if (isGiven !== true) waitNoLonger()
      quietly(meet)()
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
  if (identifyTimeoutMs >= 0) return Math.min(identifyTimeoutMs, longestIdentifyMs)
  warn('data-identify-timeout needs milliseconds')
  return identifyMs
}

/** "Do Not Track", and Global Privacy Control, which has taken its place. */
function asksNotToBeTracked({ navigator }: Window): boolean {
  const { globalPrivacyControl } = navigator as { globalPrivacyControl?: boolean }
  return navigator.doNotTrack === '1' || globalPrivacyControl === true
}

/** Whether the browser only prepares the page, in case that somebody goes there. */
const isPrerendering = ({ document }: Window): boolean =>
  (document as { prerendering?: boolean }).prerendering === true
