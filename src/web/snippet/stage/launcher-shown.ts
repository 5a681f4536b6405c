import type { Flow, Item, Progress } from '../parts.ts'
import type { markdownNodes } from './markdown.ts'
import type { spoken } from './spoken.ts'

/** An announcement, as the visitor reads it. */
export interface Listed {
  flow: Flow
  title: string
  isUnread: boolean
}

/** An item, with what there is to show of it now. */
export interface Offer {
  item: Item
  /** Of an item that starts a flow. */
  starts?: { kind: Flow['kind']; progress: Progress }
  /** Of the item that lists announcements. */
  announcements?: readonly Listed[]
}

export interface LauncherState {
  isOpen: boolean
  /** Whether its button is hidden because steps are shown: one thing at a time. */
  isHidden: boolean
  offers: readonly Offer[]
  /** How many of the announcements are unread. */
  unread: number
}

export interface LauncherActions {
  toggle(isOpen: boolean): void
  choose(item: Item, announcement?: Flow): void
  /** How many elements of the page would open it, if it has no button of its own. */
  matched(count: number): void
}

/** What the stage has loaded already, so that a launcher's part need not have it again. */
export interface StageTools {
  spoken: typeof spoken
  markdownNodes: typeof markdownNodes
}

/** What the page sees of a launcher. */
export interface DrawnLauncher {
  draw(state: LauncherState): void
  remove(): void
}

/** A launcher that is on the page. */
export interface Offered {
  open(): void
  hide(isHidden: boolean): void
  leave(): void
}
