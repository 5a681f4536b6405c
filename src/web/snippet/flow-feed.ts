import type { Theme } from '../../core/flow/theme.ts'
import type { ServerEvents } from './caused.ts'
import type { ServerHistory } from './history.ts'
import { jsonIn } from './natives.ts'
import { namesOf } from './outbox.ts'
import { hashOf } from './page-values.ts'
import type { BrowserStore, Flow, Identified, Person } from './parts.ts'
import { isWithin } from './recency.ts'
import type { ServerClock } from './server-clock.ts'
import type { Transport } from './transport.ts'

/** How long a flow list counts as fresh, milliseconds: in a quiet minute, and longer in a crowd. */
const freshMs = 60_000
const freshInCrowdMs = 5 * 60_000
/** How often a page that stays open in a crowd requests the flows. */
const staleMs = 30 * 60_000
/** A longer list is not stored, because an origin may store only five million characters. */
const maxKeptLength = 500_000
/** A page that is still there this long after a failure was not being left, milliseconds. */
const staysMs = 1_000
/** At most one heartbeat in this time, over all tabs of the browser, unless the server asks for another. */
const heartbeatMs = 5 * 60_000
/** How soon after another heartbeat a page first asks for progress; after that, the server says when. */
const firstMs = 10_000
/** How soon after a heartbeat that had no answer the next one is due, milliseconds. */
const unansweredMs = 60_000
/** Up to this share of its limit of flows, an organisation has no crowd: all browsers are heard. */
const quietShare = 1 / 20
/** From this share on, the rest of the limit is for browsers that do not know the flows yet. */
const crowdedShare = 1 / 4

interface Answer {
  version: string
  flows: Flow[]
  /** Present if the organisation heeds browsers that ask not to be tracked. */
  honoursDoNotTrack?: boolean
  /** Present if the organisation counts runs by traits: the only traits that it may get. */
  traits?: string[]
  /** Present if the organisation has a theme: flows are drawn in it, with their own themes over it. */
  theme?: Theme
  /** Present if the organisation limits how often a person is interrupted. */
  throttle?: number
  /** What the person who was named has done with flows, by flow id. */
  history?: Record<string, ServerHistory>
  /** The events that this person has caused, of those that flows wait for. */
  events?: ServerEvents
}

interface KeptFlows extends Omit<Answer, 'history' | 'events'> {
  /** The user that the request named, and with which hash; null for nobody. */
  asker: string | null
  /** When the server did not believe that it was them. */
  refusedAt: number | null
  askedAt: number
  etag: string | null
  /** The share of the minute's requests that was used up at the request; 1 if that was refused. */
  crowd: number
  /** Whether this browser is one of those that are heard in a crowd. */
  isHeard: boolean
}

/** The last heartbeat of this browser, and its response. */
interface Beat {
  at: number
  /** How much later the next one is due from a page that waits for somebody's progress, milliseconds. */
  nextMs: number
  /** Whose progress it was about, and the version of that progress. */
  asker: string | null
  version: string | null
  flowsVersion?: string
}

export interface FlowFeedDeps {
  store: BrowserStore
  transport: Transport
  /** The current user, if they may be identified; null if nobody is known, or may be. */
  user(): Person | null
  /** Called with what the server has of a user. */
  onHistory(
    user: Person,
    byFlow: Readonly<Record<string, ServerHistory>>,
    events?: ServerEvents,
  ): void
  clock: ServerClock
  version: string
  sessionId(): string
  url(): string
  page: Window
}

/** What this browser knows of the organisation's flows, and how it says that it is alive. */
export function createFlowFeed(deps: FlowFeedDeps) {
  const { store, transport, version, sessionId, url, page } = deps
  /** Kept in memory: what may not be stored, or was forgotten, is known as long as the page lasts. */
  let last: KeptFlows | null = null
  const recall = () => {
    const kept = store.get<KeptFlows>('flows')
    if (Array.isArray(kept?.flows)) last = kept
  }
  /** Read from storage once, because it may be long, and again when another tab has fetched it. */
  const kept = () => last
  recall()
  store.onChange('flows', recall)

  const set = (known: Omit<KeptFlows, 'askedAt' | 'crowd' | 'isHeard'>, crowd: number) => {
    last = { ...known, askedAt: Date.now(), crowd, isHeard: Math.random() < chanceIn(crowd) }
  }
  const remember = () => {
    // The page needs storage of its own, and the browser's cache has the list too.
    if (JSON.stringify(last).length > maxKeptLength) store.remove('flows')
    else store.set('flows', last)
  }

  const isCrowded = () => (kept()?.crowd ?? 0) > crowdedShare

  /** Whether the flows, and what the user has done with them, are known and still fresh. */
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
    // Another user gets another response.
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
    if (response) deps.clock.setBy(response)
    const answer = response?.status === 200 ? await answerIn(response) : null
    if (response && answer) {
      const { version, flows, honoursDoNotTrack = false, traits, theme, throttle } = answer
      const { history, events } = answer
      const etag = response.headers.get('ETag')
      if (user && history) deps.onHistory(user, history, events)
      const organisation = { honoursDoNotTrack, traits, theme, throttle }
      const fresh = { version, flows, ...organisation, etag, asker, refusedAt }
      set(fresh, crowdIn(response))
      remember()
    } else if (known && response) {
      set({ ...known, asker, refusedAt }, crowdIn(response))
      remember()
    } else if (known) {
      set(known, 1)
      // Requests also fail because the page is being left. The next page must not know of those failures.
      page.setTimeout(() => {
        if (store.get<KeptFlows>('flows')?.askedAt === known.askedAt) remember()
      }, staysMs)
    }
  }

  /** The user who is there, if the server accepts that it is them. */
  const accepted = (): Person | null => {
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
    // Stored before it is sent, so that other tabs do not send theirs meanwhile.
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
    const answer = response && (await jsonIn(response).catch(() => null))
    const { nextHeartbeatSeconds, flowsVersion, progressVersion = null, serverTime } = answer ?? {}
    deps.clock.setTo(serverTime)
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
  /** One request at a time: callers that come meanwhile get its answer, or ask after it. */
  const ask = () => {
    asking ??= refresh().finally(() => {
      asking = null
    })
    return asking
  }

  return {
    /** The flows, no older than counts as fresh; as last known if the server does not answer. */
    async flows(): Promise<readonly Flow[]> {
      if (asking) await asking
      if (!isCurrent()) await ask()
      return kept()?.flows ?? []
    },
    async refresh(): Promise<readonly Flow[]> {
      await ask()
      return kept()?.flows ?? []
    },
    /** Whether the server accepts who the user is. */
    identified(): Exclude<Identified, 'invalid'> {
      const user = deps.user()
      if (!user || kept()?.asker !== askerOf(user)) return 'alone'
      return accepted() ? 'known' : 'refused'
    },
    /** As last known. */
    known: (): readonly Flow[] => kept()?.flows ?? [],
    isCurrent,
    /** Whether the server has ever responded. */
    areKnown: () => kept() !== null,
    /** Null until the server has responded. */
    honoursDoNotTrack: (): boolean | null => kept()?.honoursDoNotTrack ?? null,
    /** The traits that the server may get, and no others. */
    listedTraits: (): readonly string[] => kept()?.traits ?? [],
    /** The organisation's theme, as last known. */
    theme: () => kept()?.theme ?? null,
    /** The most interruptions of a person in 24 hours; null if the organisation sets none. */
    throttle: (): number | null => Number(kept()?.throttle) || null,
    /** Whether this browser reports how elements fare. In a crowd only a few do, so that the limits hold. */
    isHeard: () => kept()?.isHeard ?? false,
    /** Whether requests that can wait must not be made now, as far as this browser knows. */
    isCrowded,
    /**
     * @param isListShown whether the page waits for a user's progress
     * @returns whether the flows have changed since they were fetched, or may well have
     */
    async beat(isListShown: boolean): Promise<boolean> {
      const known = kept()
      if (!known) return false
      if (!known.isHeard) return !isWithin(known.askedAt, staleMs)
      if (!isWithin(lastBeat()?.at ?? 0, heartbeatMs)) {
        await sendBeat(isListShown ? accepted() : null)
      }
      const { at = 0, flowsVersion = known.version } = lastBeat() ?? {}
      return at >= known.askedAt && flowsVersion !== known.version
    },
    /**
     * To be called while somebody sees a checklist. Asks, as often as the server lets this browser, whether
     * their progress has changed, in another browser or by a back end.
     *
     * @returns the version of their progress that any tab got last; null if none has
     */
    progressVersion(): string | null {
      const named = accepted()
      if (!named || !kept()?.isHeard || page.document.visibilityState === 'hidden') return null
      const beat = lastBeat()
      const isTheirs = beat?.asker === askerOf(named)
      const isDue = !isWithin(beat?.at ?? 0, isTheirs ? beat.nextMs : firstMs)
      if (isDue) sendBeat(named).catch(() => {})
      return isTheirs ? beat.version : null
    },
  }
}

/** A user as the server knows them. The user hash itself must not outlast them in this browser. */
const askerOf = ({ userId, userHash }: Person): string =>
  JSON.stringify([userId, userHash && hashOf(userHash)])

async function answerIn(response: Response): Promise<Answer | null> {
  const answer = await jsonIn(response).catch(() => null)
  return Array.isArray(answer?.flows) ? answer : null
}

/** Every answer says how many requests the minute still has. A proxy in between may say anything. */
function crowdIn({ headers }: Response): number {
  const limit = Number(headers.get('X-RateLimit-Limit'))
  const crowd = 1 - Number(headers.get('X-RateLimit-Remaining')) / limit
  return limit > 0 && crowd > 0 ? Math.min(crowd, 1) : 0
}

/**
 * The chance that a browser is heard. At k times the quiet share it is 1/k², whose sum stays bounded: few
 * more are heard in a minute with a crowd than in the busiest minute without one.
 */
const chanceIn = (crowd: number): number => Math.min(1, (quietShare / crowd) ** 2)

export type FlowFeed = ReturnType<typeof createFlowFeed>
