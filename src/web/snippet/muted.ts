import type { Flow, Outbox, Person } from './parts.ts'
import type { StageDeps } from './stage.ts'

const nothing = () => {}

/** Reports nothing: no event, no health, no fingerprint. */
const outbox: Outbox = {
  report: () => '',
  flush: nothing,
  withdraw: nothing,
  rename: nothing,
  silence: nothing,
  settled: async () => {},
  maySpeak: () => false,
  speak: nothing,
}

const nobody: Person = { userId: null, anonymousId: '', userHash: null, traits: {} }

/** What the stage needs if a flow is only looked at: nothing reaches a server, and nothing is stored. */
export const muted = {
  outbox,
  transport: {
    ask: () => Promise.resolve(null),
  } as unknown as StageDeps['transport'],
  feed: {
    isCrowded: () => false,
    isHeard: () => false,
    progressVersion: () => null,
    theme: () => null,
    known: () => [],
    listedTraits: () => [],
  },
  store: { get: () => null, set: nothing },
  url: () => '',
  version: '',
  isHere: () => true,
  person: { current: nobody, name: '' },
  history: { of: () => ({}) },
  runs: { open: () => [] },
  clock: { now: Date.now },
  hasTracked: () => false,
  save: nothing,
  start: nothing,
  giveWay: nothing,
  inVain: nothing,
}

/**
 * Stands in for the flows that a launcher starts, if it is only looked at, so that none of its items is left
 * out.
 */
export const standIns = (flow: Flow): Flow[] =>
  (flow.launcher?.items ?? []).flatMap(({ flow: key }) => {
    if (key === undefined) return []
    const targeting: Flow['targeting'] = { urls: [], audience: { match: 'all', rules: [] } }
    return [{ ...flow, id: key, key, kind: 'tour', targeting }]
  })
