import { version } from '../../core/version.ts'
import { createEngine } from './engine.ts'
import { createHistory } from './history.ts'
import { createKeep } from './keep.ts'
import { onNavigation } from './navigation.ts'
import { createOutbox } from './outbox.ts'
import type { Cairn, Flow, Settings, Told } from './parts.ts'
import { createPerson } from './person.ts'
import { createPresence } from './presence.ts'
import { createRuns } from './runs.ts'
import { createSession } from './session.ts'
import type { Stage, StageDeps } from './stage.ts'
import { createTabs } from './tabs.ts'
import { createTransport } from './transport.ts'
import { uuid } from './uuid.ts'

/** How often a page that stays open says that it lives, milliseconds. */
const beatMs = 60_000
/** How soon the flows are asked for again where there was no answer. */
const askAgainMs = 5_000

export type LoadStage = () => Promise<(deps: StageDeps) => Stage>

/** Puts the snippet together. Nothing of it throws into the page. */
export function createCairn(settings: Settings, loadStage: LoadStage, page: Window): Cairn {
  const prefix = `cairn:${settings.key.slice(0, 8)}:`
  const tab = uuid()
  const keep = createKeep(prefix, page)
  const transport = createTransport(settings, page)
  const person = createPerson(keep)
  const sessionId = createSession(keep)
  const listeners = new Map<string, Set<(what: never) => void>>()

  const address = () => new URL(page.location.href)
  const url = () => {
    const { origin, pathname, href } = page.location
    return (settings.keepQuery ? href : origin + pathname).slice(0, 2_048)
  }
  const tell = <Name extends keyof Told>(name: Name, what: Told[Name]) => {
    for (const listener of listeners.get(name) ?? []) safely(() => listener(what as never))
  }

  const common = { keep, transport, sessionId, url, version, page }
  const presence = createPresence(common)
  const outbox = createOutbox({
    ...common,
    tab,
    person: () => person.current,
    isHeard: presence.isHeard,
  })
  const history = createHistory(keep)
  const engine = createEngine({
    outbox,
    transport,
    presence,
    history,
    person,
    page,
    tell,
    address,
    loadStage,
    runs: createRuns(keep),
    hold: createTabs(prefix, tab, keep, page),
    nonce: settings.nonce ?? null,
  })

  /**
   * Whether this person may be told apart and reported on: as they have said, else as their browser
   * asks where the organisation heeds that; null as long as it is not known whether it does.
   */
  const isAllowed = (): boolean | null => {
    const consent = keep.get<boolean>('consent')
    if (consent !== null || !asksNotToBeTracked(page)) return consent ?? true
    const honours = presence.honoursDoNotTrack()
    return honours === null ? null : !honours
  }

  let heeded: boolean | null = null
  /** Called whenever the answer may be another. */
  const heed = () => {
    const allowed = isAllowed()
    if (allowed === heeded) return
    heeded = allowed
    if (allowed === true) {
      keep.store(true)
      person.save()
      outbox.speak()
    } else if (allowed === false) {
      outbox.silence()
      forget()
    }
  }

  /** Nothing but a refusal stays behind. */
  const forget = () => {
    const consent = keep.get<boolean>('consent')
    keep.forget()
    keep.store(true)
    if (consent !== null) keep.set('consent', consent)
    keep.store(false)
  }

  const take = (flows: readonly Flow[]) => {
    heed()
    engine.take(flows)
  }

  const beat = async () => {
    if (page.document.visibilityState === 'hidden' || isAllowed() !== true) return
    if (await presence.beat()) take(await presence.refresh())
  }

  /** Until the flows are known: that a server was busy, or away, is no reason to show none. */
  const learn = async (): Promise<void> => {
    take(await presence.flows())
    if (presence.areKnown()) return beat()
    page.setTimeout(learn, Math.max(transport.pauseMs('flows'), askAgainMs))
  }

  const changePerson = (change: () => void) => {
    engine.clear()
    change()
    engine.consider()
  }

  /** Not before calls that have waited, of which one may refuse consent. */
  const begin = () => {
    heed()
    learn().catch(() => {})
    page.setInterval(beat, beatMs)
    onNavigation(page, engine.moved)
    page.document.addEventListener('visibilitychange', engine.consider)
  }

  keep.store(isAllowed() === true)
  queueMicrotask(() => safely(begin))

  const cairn: Cairn = {
    identify(userId, traits, userHash) {
      const before = person.name
      const wasStranger = person.current.userId === null
      const isOther = person.identify(userId, traits, userHash)
      if (!isOther) return void engine.consider()
      if (wasStranger) history.adopt(before, person.name)
      changePerson(() => {})
    },
    track(name, properties) {
      const named = String(name).slice(0, 64)
      outbox.report({ kind: 'custom', name: named, ...(properties && { properties }) })
      engine.tracked(named)
    },
    start: flowKey => void engine.start(String(flowKey)),
    stop: () => engine.stop(),
    reset: () => changePerson(person.reset),
    on(name, listener) {
      const ofName = listeners.get(name) ?? new Set()
      listeners.set(name, ofName.add(listener))
      return () => void ofName.delete(listener)
    },
    consent(isGiven) {
      keep.set('consent', isGiven === true)
      heed()
    },
  }
  for (const name of Object.keys(cairn) as (keyof Cairn)[]) {
    const own = cairn[name] as (...args: never[]) => unknown
    Object.assign(cairn, { [name]: (...args: never[]) => safely(() => own(...args)) })
  }
  return cairn
}

/** What fails in here, or in a listener, is no matter of the page's. */
function safely<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** "Do Not Track", and Global Privacy Control, which has taken its place. */
function asksNotToBeTracked({ navigator }: Window): boolean {
  const { globalPrivacyControl } = navigator as { globalPrivacyControl?: boolean }
  return navigator.doNotTrack === '1' || globalPrivacyControl === true
}
