import type { Theme } from '../../core/flow/theme.ts'
import type { ToldEvents } from './caused.ts'
import type { ToldHistory } from './history.ts'
import { namesOf } from './outbox.ts'
import { hashOf } from './page-values.ts'
import type { BrowserStore, Flow, Identified, Person } from './parts.ts'
import { isWithin } from './recency.ts'
import type { ServerClock } from './server-clock.ts'
import type { Transport } from './transport.ts'

/** How long a flow list is taken as it is, milliseconds: in a quiet minute, and more in a crowd. */
const freshMs = 60_000
const freshInCrowdMs = 5 * 60_000
/** A page that stays open in a crowd asks for the flows so often. */
const staleMs = 30 * 60_000
/** Of the five million characters that an origin may store, a longer list is not kept. */
const longestKept = 500_000
/** A page that is still there so long after a failure was not being left, milliseconds. */
const staysMs = 1_000
/** At most one heartbeat in this time, over all tabs of the browser, where the server asks for no other. */
const heartbeatMs = 5 * 60_000
/** Of a page that waits for somebody's progress the server says when. First so soon after another, */
const firstMs = 10_000
/** and so late after one that had no answer, milliseconds. */
const unansweredMs = 60_000
/** Up to this share of its limit of flows, an organisation has no crowd: all are heard. */
const quietShare = 1 / 20
/** From this share on, the rest is for those who do not know the flows yet. */
const crowdedShare = 1 / 4

interface Answer {
  version: string
  flows: Flow[]
  /** There where the organisation heeds browsers that ask not to be tracked. */
  honoursDoNotTrack?: boolean
  /** There where the organisation counts runs by traits: the only ones that it may be told. */
  traits?: string[]
  /** There where the organisation has one: flows are drawn in it, their own over it. */
  theme?: Theme
  /** There where the organisation says how often a person is interrupted at most. */
  throttle?: number
  /** What the person who was named has done with flows, by flow id. */
  history?: Record<string, ToldHistory>
  /** What they have caused of the events that flows wait for. */
  events?: ToldEvents
}

interface KeptFlows extends Omit<Answer, 'history' | 'events'> {
  /** Who was named when it was asked for, and with which hash; null for nobody. */
  asker: string | null
  /** When the server did not believe that it was them. */
  refusedAt: number | null
  askedAt: number
  etag: string | null
  /** What share of the minute's requests was used up when it was asked for: 1 where it was refused. */
  crowd: number
  /** Whether this browser is one of those in the crowd that are heard. */
  isHeard: boolean
}

/** The last heartbeat of this browser, and what it told. */
interface Beat {
  at: number
  /** When the next is due of a page that waits for somebody's progress, milliseconds later. */
  nextMs: number
  /** Whose progress it told of, and which it is. */
  asker: string | null
  version: string | null
  flowsVersion?: string
}

export interface FlowFeedDeps {
  store: BrowserStore
  transport: Transport
  /** The user who is there, where they may be told apart; null where nobody is known or may be. */
  user(): Person | null
  /** The server has told what a user has done. */
  learned(user: Person, told: Readonly<Record<string, ToldHistory>>, events?: ToldEvents): void
  clock: ServerClock
  version: string
  sessionId(): string
  url(): string
  page: Window
}

/** What this browser knows of the organisation's flows, and how it says that it is alive. */
export function createFlowFeed(deps: FlowFeedDeps) {
  const { store, transport, version, sessionId, url, page } = deps
  /** What may not be stored, or was forgotten, is known as long as the page lasts. */
  let last: KeptFlows | null = null
  const recall = () => {
    const kept = store.get<KeptFlows>('flows')
    if (Array.isArray(kept?.flows)) last = kept
  }
  /** Read once, for it may be long, and again when another tab has asked. */
  const kept = () => last
  recall()
  store.onChange('flows', recall)

  const set = (known: Omit<KeptFlows, 'askedAt' | 'crowd' | 'isHeard'>, crowd: number) => {
    last = { ...known, askedAt: Date.now(), crowd, isHeard: Math.random() < chanceIn(crowd) }
  }
  const remember = () => {
    // The page needs room of its own; the browser's cache has it too.
    if (JSON.stringify(last).length > longestKept) store.remove('flows')
    else store.set('flows', last)
  }

  const isCrowded = () => (kept()?.crowd ?? 0) > crowdedShare

  /** Whether the flows are known as of a while ago at most, and what the user has done with them. */
  const isCurrent = () => {
    const known = kept()
    if (!known) return false
    const fresh = freshMs + (freshInCrowdMs - freshMs) * known.crowd
    if (!isWithin(known.askedAt, fresh)) return false
    const user = deps.user()
    return user === null || known.asker === askerOf(user) || isCrowded()
  }

  async function refresh(): Promise<void> {
    const known = kept()
    const user = deps.user()
    const asker = user && askerOf(user)
    const isSame = known?.asker === asker
    let refusedAt = isSame ? (known?.refusedAt ?? null) : null
    // What another was told is not what this one is.
    const headers = known?.etag && isSame ? { headers: { 'If-None-Match': known.etag } } : {}
    const ask = (named: Person | null) => {
      const query = named ? `?${new URLSearchParams(namesOf(named) as Record<string, string>)}` : ''
      return transport.ask('flows', `/flows${query}`, { ...headers, namesUser: named !== null })
    }
    const isRefused = refusedAt !== null && isWithin(refusedAt, staleMs)
    let response = await ask(isRefused ? null : user)
    if (response?.status === 401) {
      refusedAt = Date.now()
      response = await ask(null)
    }
    if (response) deps.clock.heard(response)
    const answer = response?.status === 200 ? await answerIn(response) : null
    if (response && answer) {
      const { version, flows, honoursDoNotTrack = false, traits, theme, throttle } = answer
      const { history, events } = answer
      const etag = response.headers.get('ETag')
      if (user && history) deps.learned(user, history, events)
      const organisation = { honoursDoNotTrack, traits, theme, throttle }
      const told = { version, flows, ...organisation, etag, asker, refusedAt }
      set(told, crowdIn(response))
      remember()
    } else if (known && response) {
      set({ ...known, asker, refusedAt }, crowdIn(response))
      remember()
    } else if (known) {
      set(known, 1)
      // Where the page is left, its questions fail too: of those the next one must not know.
      page.setTimeout(() => {
        if (store.get<KeptFlows>('flows')?.askedAt === known.askedAt) remember()
      }, staysMs)
    }
  }

  /** Who is there, where the server believes that it is them. */
  const believed = (): Person | null => {
    const user = deps.user()
    const refusedAt = kept()?.refusedAt ?? null
    return refusedAt !== null && isWithin(refusedAt, staleMs) ? null : user
  }

  const lastBeat = () => store.get<Beat>('heartbeat')

  async function sendBeat(named: Person | null): Promise<void> {
    const last = lastBeat()
    const asker = named && askerOf(named)
    const known = last?.asker === asker ? (last?.version ?? null) : null
    const about = { at: Date.now(), asker, version: known }
    // Before it is sent: other tabs must not send theirs meanwhile.
    store.set('heartbeat', { ...about, nextMs: unansweredMs } satisfies Beat)
    const query = new URLSearchParams({
      v: version,
      url: url(),
      sid: sessionId(),
      ...(named && (namesOf(named) as Record<string, string>)),
      ...(named && known && { progressVersion: known }),
    })
    const namesUser = named !== null
    const response = await transport.ask('heartbeat', `/heartbeat?${query}`, { namesUser })
    const answer = await response?.json().catch(() => null)
    const { nextHeartbeatSeconds, flowsVersion, progressVersion = null, serverTime } = answer ?? {}
    deps.clock.told(serverTime)
    if (typeof flowsVersion !== 'string') return
    const nextMs = nextHeartbeatSeconds * 1_000 || unansweredMs
    store.set('heartbeat', {
      ...about,
      nextMs,
      version: progressVersion,
      flowsVersion,
    } satisfies Beat)
  }

  let asking: Promise<void> | null = null
  /** One question at a time: who asks meanwhile has its answer, or asks after it. */
  const ask = () => {
    asking ??= refresh().finally(() => {
      asking = null
    })
    return asking
  }

  return {
    /** The flows as of a while ago at most; as last known where the server does not answer. */
    async flows(): Promise<readonly Flow[]> {
      if (asking) await asking
      if (!isCurrent()) await ask()
      return kept()?.flows ?? []
    },
    async refresh(): Promise<readonly Flow[]> {
      await ask()
      return kept()?.flows ?? []
    },
    /** What the server has said to the user who is there. */
    standing(): Exclude<Identified, 'invalid'> {
      const user = deps.user()
      if (!user || kept()?.asker !== askerOf(user)) return 'alone'
      return believed() ? 'known' : 'refused'
    },
    /** As last known. */
    known: (): readonly Flow[] => kept()?.flows ?? [],
    isCurrent,
    /** Whether the server has ever told. */
    areKnown: () => kept() !== null,
    /** Null as long as the server has not told. */
    honoursDoNotTrack: (): boolean | null => kept()?.honoursDoNotTrack ?? null,
    /** The traits that the server may be told, and no others. */
    listedTraits: (): readonly string[] => kept()?.traits ?? [],
    /** The organisation's theme, as last known. */
    theme: () => kept()?.theme ?? null,
    /** How often a person is interrupted in 24 hours at most; null where the organisation says nothing. */
    throttle: (): number | null => Number(kept()?.throttle) || null,
    /** Whether this browser tells how elements fare: in a crowd a few do, and the limits hold. */
    isHeard: () => kept()?.isHeard ?? false,
    /** Whether what can wait must not be asked for now, as far as this browser knows. */
    isCrowded,
    /**
     * @param isListShown whether the page waits for a user's progress
     * @returns whether the flows are others than those that are known, or may well be
     */
    async beat(isListShown: boolean): Promise<boolean> {
      const known = kept()
      if (!known) return false
      if (!known.isHeard) return !isWithin(known.askedAt, staleMs)
      if (!isWithin(lastBeat()?.at ?? 0, heartbeatMs)) {
        await sendBeat(isListShown ? believed() : null)
      }
      const { at = 0, flowsVersion = known.version } = lastBeat() ?? {}
      return at >= known.askedAt && flowsVersion !== known.version
    },
    /**
     * To be called while somebody sees a checklist: asks as often as the server lets this browser whether
     * theirs has changed, in another or by a back end.
     *
     * @returns the version of their progress as it was told last, by whichever tab; null where it was not
     */
    progressVersion(): string | null {
      const named = believed()
      if (!named || !kept()?.isHeard || page.document.visibilityState === 'hidden') return null
      const beat = lastBeat()
      const isTold = beat?.asker === askerOf(named)
      const isDue = !isWithin(beat?.at ?? 0, isTold ? beat.nextMs : firstMs)
      if (isDue) sendBeat(named).catch(() => {})
      return isTold ? beat.version : null
    },
  }
}

/** A user as the server was told of them. The hash itself must not outlast them in this browser. */
const askerOf = ({ userId, userHash }: Person): string =>
  JSON.stringify([userId, userHash && hashOf(userHash)])

async function answerIn(response: Response): Promise<Answer | null> {
  const answer = await response.json().catch(() => null)
  return Array.isArray(answer?.flows) ? answer : null
}

/** Every answer says how many requests the minute still has; what stands between may say anything. */
function crowdIn({ headers }: Response): number {
  const limit = Number(headers.get('X-RateLimit-Limit'))
  const crowd = 1 - Number(headers.get('X-RateLimit-Remaining')) / limit
  return limit > 0 && crowd > 0 ? Math.min(crowd, 1) : 0
}

/**
 * Of a crowd so many that few more are heard in a minute than of the most that are none: the k-th of a
 * minute with 1/k² of those, whose sum grows no further.
 */
const chanceIn = (crowd: number): number => Math.min(1, (quietShare / crowd) ** 2)

export type FlowFeed = ReturnType<typeof createFlowFeed>
