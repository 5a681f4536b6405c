import type { Flow } from '../../../../core/flow/flow.ts'
import type { MaybeTheme } from '../../../../core/flow/merged-theme.ts'

/** The messages between the page of the dashboard and the frame of the preview. */

/** The look of the page on which visitors would see the flow. */
export interface Look {
  isDark: boolean
  direction: 'ltr' | 'rtl'
  /** The language of the page, by which the snippet chooses its own words. */
  language: string
}

export type ToFrame =
  | { type: 'look'; look: Look }
  | {
      type: 'show'
      flow: Flow
      /** The key of the step or item to show; null for wherever the visitor is. */
      part: string | null
      /** The organisation's theme, which the flow's own overrides. */
      theme: MaybeTheme
    }
  /** Plays the flow from the beginning, after it has ended. */
  | { type: 'again' }
  /** Acts as if the visitor's page had reported an event. */
  | { type: 'track'; name: string }

export type FromFrame =
  | { type: 'ready'; languages: string[] }
  | {
      type: 'shown'
      /** The step that is shown, or the item that was pressed. */
      key: string
      /** Whether the visitor went there, by a button of the step. */
      isByVisitor: boolean
    }
  | { type: 'ended'; outcome: 'completed' | 'dismissed' }
  /** A link was pressed that a visitor would have followed. */
  | { type: 'link'; href: string }
