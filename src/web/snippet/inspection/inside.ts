import type { Engine } from '../engine.ts'
import type { FlowFeed } from '../flow-feed.ts'
import type { History } from '../history.ts'
import type { BrowserStore, FlowSummary, Settings, Why } from '../parts.ts'
import type { PersonStore } from '../person.ts'
import type { Runs } from '../runs.ts'
import type { Transport } from '../transport.ts'

/** The parts of the snippet that are inspected. */
export interface Inside {
  settings: Settings
  version: string
  engine: Engine
  feed: FlowFeed
  person: PersonStore
  history: History
  runs: Runs
  store: BrowserStore
  transport: Transport
  page: Window
  storedConsent(): boolean | null
  isAllowed(): boolean | null
  who(): 'pending' | 'guessed' | 'identified'
}

export interface Inspection {
  flows(): FlowSummary[]
  why(flowKey: string): Why | null
  /** Opens the panel or closes it; without an argument, it switches. */
  show(isOpen?: boolean): void
}
