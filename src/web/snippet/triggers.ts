import type { Flow } from './parts.ts'
import { safely } from './safely.ts'
import { ownHostAttribute } from './stage/elements.ts'

/** How long after its trigger a flow may start, milliseconds. What keeps it back for longer makes it late. */
const freshMs = 10_000

export interface TriggerDeps {
  page: Window
  flows(): readonly Flow[]
  /** By the server's clock. */
  now(): number
  /** When the person last started a flow; null for never. */
  startedAt(flow: Flow): number | null
  /** Checks again what is due. */
  consider(): void
}

/** Notes what people do that starts a flow: clicks on elements, and events that the page tracks. */
export function createTriggers({ page, flows, now, startedAt, consider }: TriggerDeps) {
  /** When each flow was last triggered on this page, by its key. */
  const triggeredAt = new Map<string, number>()

  const trigger = (at: number, isMeant: (what: Trigger) => boolean) => {
    const meant = flows().filter(({ when }) => when?.trigger && isMeant(when.trigger))
    for (const { key } of meant) triggeredAt.set(key, at)
    return meant.length > 0
  }

  const clicked = (event: Event) => {
    const path = event.composedPath().filter(one => (one as Node).nodeType === 1) as Element[]
    if (path.some(one => one.hasAttribute(ownHostAttribute))) return
    const isMeant = ({ on, element }: Trigger) =>
      on === 'click' && element !== undefined && path.some(one => isOf(one, element))
    // The page does first what the click means to it.
    if (trigger(now(), isMeant)) page.setTimeout(() => safely(consider))
  }
  // Before the page's own listeners, which may end the event or remove the element.
  page.addEventListener('click', event => safely(() => clicked(event)), { capture: true })

  return {
    /** The page has tracked an event. */
    tracked: (name: string, at: number) =>
      trigger(at, ({ on, event }) => on === 'event' && event === name),
    /** Whether a flow was triggered just now, and has not started since. */
    has(flow: Flow): boolean {
      const at = triggeredAt.get(flow.key)
      return at !== undefined && now() - at < freshMs && at >= (startedAt(flow) ?? 0)
    },
  }
}

type Trigger = NonNullable<NonNullable<Flow['when']>['trigger']>

function isOf(element: Element, selector: string): boolean {
  try {
    return element.matches(selector)
  } catch {
    return false
  }
}
