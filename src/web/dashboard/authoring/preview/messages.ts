import type { Flow } from '../../../../core/flow/flow.ts'
import type { MaybeTheme } from '../../../../core/flow/merged-theme.ts'

/** What the page of the dashboard and the frame of the preview tell each other. */

/** How the page looks on which visitors would see the flow. */
export interface Look {
  isDark: boolean
  direction: 'ltr' | 'rtl'
  /** Language of the page, by which the snippet takes its own words. */
  language: string
}

export type ToFrame =
  | { type: 'look'; look: Look }
  | {
      type: 'show'
      flow: Flow
      /** The key of the step or item that is looked at; null for wherever the visitor is. */
      part: string | null
      /** The organisation's, over which the flow's own stands. */
      theme: MaybeTheme
    }
  /** From the beginning, after it has ended. */
  | { type: 'again' }
  /** As if the visitor's page had reported an event. */
  | { type: 'track'; name: string }

export type FromFrame =
  | { type: 'ready'; languages: string[] }
  | {
      type: 'shown'
      /** The step that is shown, or the item that was pressed. */
      key: string
      /** Whether the visitor has gone there, by a button of the step. */
      isByVisitor: boolean
    }
  | { type: 'ended'; outcome: 'completed' | 'dismissed' }
  /** A link was pressed, which a visitor would have followed. */
  | { type: 'link'; href: string }
