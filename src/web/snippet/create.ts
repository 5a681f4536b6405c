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

export type LoadStage = () => Promise<(deps: StageDeps) => Stage>

/** Puts the snippet together. Nothing of it throws into the page. */
export function createCairn(settings: Settings, loadStage: LoadStage, page: Window): Cairn {
  const prefix = `cairn:${settings.key.slice(0, 8)}:`
  const tab = uuid()
  const keep = createKeep(prefix, page)
  keep.store(keep.get('consent') !== false)
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
  const outbox = createOutbox({ ...common, tab, person: () => person.current })
  const presence = createPresence(common)
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

  /** Whether this browser may be told apart and reported on. */
  const listenTo = (isAllowed: boolean) => {
    if (!isAllowed) {
      outbox.silence()
      keep.forget()
    }
    keep.store(isAllowed)
    if (isAllowed) outbox.speak()
  }

  const take = (flows: readonly Flow[]) => {
    if (presence.honoursDoNotTrack() && asksNotToBeTracked(page) && keep.get('consent') !== true) {
      listenTo(false)
    }
    engine.take(flows)
  }

  const beat = async () => {
    if (page.document.visibilityState === 'hidden' || keep.get('consent') === false) return
    if (await presence.beat()) take(await presence.refresh())
  }

  const changePerson = (change: () => void) => {
    engine.clear()
    change()
    engine.consider()
  }

  if (keep.get('consent') === false) outbox.silence()
  presence.flows().then(take, () => {})
  beat()
  page.setInterval(beat, beatMs)
  onNavigation(page, engine.moved)
  page.document.addEventListener('visibilitychange', engine.consider)

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
      listenTo(isGiven)
      keep.store(true)
      keep.set('consent', isGiven)
      keep.store(isGiven)
      if (isGiven) person.save()
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
