import { isObject } from '../../core/event/traits.ts'
import type { BrowserStore, Flow } from './parts.ts'
import { safely } from './safely.ts'
import { ownHostAttribute } from './stage/elements.ts'

/** How long after its trigger a flow may start, milliseconds. What keeps it back for longer makes it late. */
const freshMs = 10_000
/** The same on the next page, which has to load first. */
const carriedMs = 30_000

export interface TriggerDeps {
  page: Window
  store: BrowserStore
  person: { readonly name: string }
  flows(): readonly Flow[]
  /** By the server's clock. */
  now(): number
  /** When the person last started a flow; null for never. */
  startedAt(flow: Flow): number | null
  /** Checks again what is due. */
  consider(): void
}

/**
 * Notes what people do that starts a flow: clicks on elements, and events that the page tracks. It is kept
 * in the browser, because a click may lead to another page.
 */
export function createTriggers(deps: TriggerDeps) {
  const { page, store, person, flows, now } = deps
  /** A trigger from before that was on another page, or before this was loaded. */
  const since = now()
  const keyOf = (name: string) => `triggered:${name}`

  /** When each flow was last triggered, by its key. */
  const of = (name: string): Readonly<Record<string, unknown>> => asRecord(store.get(keyOf(name)))

  const agoMs = (at: unknown) => Math.abs(now() - Number(at))

  const trigger = (name: string, at: number, isMeant: (what: Trigger) => boolean) => {
    const meant = flows().filter(({ when }) => when?.trigger && isMeant(when.trigger))
    if (meant.length === 0) return false
    const recent = Object.entries(of(name)).filter(([, at]) => agoMs(at) < carriedMs)
    const fired = meant.map(({ key }) => [key, at])
    store.set(keyOf(name), Object.fromEntries([...recent, ...fired]))
    return true
  }

  const clicked = (event: Event) => {
    const path = event.composedPath().filter(one => (one as Node).nodeType === 1) as Element[]
    if (path.some(one => one.hasAttribute(ownHostAttribute))) return
    const isMeant = ({ on, element }: Trigger) =>
      on === 'click' && element !== undefined && path.some(one => isOf(one, element))
    // The page does first what the click means to it.
    if (trigger(person.name, now(), isMeant)) page.setTimeout(() => safely(deps.consider))
  }
  // Before the page's own listeners, which may end the event or remove the element.
  page.addEventListener('click', event => safely(() => clicked(event)), { capture: true })

  return {
    /** A person has caused an event that the page tracks. @param name as `PersonStore` names them */
    tracked: (name: string, event: string, at: number) =>
      trigger(name, at, what => what.on === 'event' && what.event === event),
    /** Whether a flow was triggered just now, and has not started since. */
    has(flow: Flow): boolean {
      if (!flow.when?.trigger) return false
      const at = Number(of(person.name)[flow.key] ?? Number.NaN)
      const isFresh = agoMs(at) < (at < since ? carriedMs : freshMs)
      return isFresh && at >= (deps.startedAt(flow) ?? 0)
    },
    /** A visitor has turned out to be a user. */
    adopt(from: string, to: string) {
      const before = of(from)
      if (Object.keys(before).length > 0) store.set(keyOf(to), { ...of(to), ...before })
      store.remove(keyOf(from))
    },
  }
}

/** Other scripts write into this storage too, and may have written anything. */
const asRecord = (kept: unknown) => (isObject(kept) ? kept : {})

type Trigger = NonNullable<NonNullable<Flow['when']>['trigger']>

function isOf(element: Element, selector: string): boolean {
  try {
    return element.matches(selector)
  } catch {
    return false
  }
}
