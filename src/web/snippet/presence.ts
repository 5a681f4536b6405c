import type { Flow, Keep } from './parts.ts'
import { isWithin } from './since.ts'
import type { Transport } from './transport.ts'

/** How long a flow list is taken as it is, milliseconds: in a quiet minute, and more in a crowd. */
const freshMs = 60_000
const freshInCrowdMs = 5 * 60_000
/** A page that stays open in a crowd asks for the flows so often. */
const staleMs = 30 * 60_000
/** Of the five million characters that an origin may store, a longer list is not kept. */
const longestKept = 500_000
/** At most one heartbeat in this time, over all tabs of the browser. */
const heartbeatMs = 5 * 60_000
/** Up to this share of its limit of flows, an organisation has no crowd: all are heard. */
const quietShare = 1 / 20
/** From this share on, the rest is for those who do not know the flows yet. */
const crowdedShare = 1 / 4

interface Answer {
  version: string
  flows: Flow[]
  /** There where the organisation heeds browsers that ask not to be tracked. */
  honoursDoNotTrack?: boolean
}

interface KeptFlows extends Answer {
  askedAt: number
  etag: string | null
  /** What share of the minute's requests was used up when it was asked for: 1 where it was refused. */
  crowd: number
  /** Whether this browser is one of those in the crowd that are heard. */
  isHeard: boolean
}

export interface PresenceDeps {
  keep: Keep
  transport: Transport
  version: string
  sessionId(): string
  url(): string
}

/** What this browser knows of the organisation's flows, and how it says that it is alive. */
export function createPresence({ keep, transport, version, sessionId, url }: PresenceDeps) {
  /** What may not be stored, or was forgotten, is known as long as the page lasts. */
  let last: KeptFlows | null = null
  const recall = () => {
    const kept = keep.get<KeptFlows>('flows')
    if (Array.isArray(kept?.flows)) last = kept
  }
  /** Read once, for it may be long, and again when another tab has asked. */
  const kept = () => last
  recall()
  keep.onChange('flows', recall)

  const set = (known: Answer & { etag: string | null }, crowd: number) => {
    last = { ...known, askedAt: Date.now(), crowd, isHeard: Math.random() < chanceIn(crowd) }
    // The page needs room of its own; the browser's cache has it too.
    if (JSON.stringify(last).length > longestKept) keep.remove('flows')
    else keep.set('flows', last)
  }

  async function refresh(): Promise<readonly Flow[]> {
    const known = kept()
    const headers = known?.etag ? { headers: { 'If-None-Match': known.etag } } : {}
    const response = await transport.ask('flows', '/flows', headers)
    const answer = response?.status === 200 ? await answerIn(response) : null
    if (response && answer) {
      const { version, flows, honoursDoNotTrack = false } = answer
      const etag = response.headers.get('ETag')
      set({ version, flows, honoursDoNotTrack, etag }, crowdIn(response))
    } else if (known) {
      set(known, response ? crowdIn(response) : 1)
    }
    return kept()?.flows ?? []
  }

  return {
    /** The flows as of a while ago at most; as last known where the server does not answer. */
    flows(): Promise<readonly Flow[]> {
      const known = kept()
      if (known === null) return refresh()
      const fresh = freshMs + (freshInCrowdMs - freshMs) * known.crowd
      return isWithin(known.askedAt, fresh) ? Promise.resolve(known.flows) : refresh()
    },
    refresh,
    /** Whether the server has ever told. */
    areKnown: () => kept() !== null,
    /** Null as long as the server has not told. */
    honoursDoNotTrack: (): boolean | null => kept()?.honoursDoNotTrack ?? null,
    /** Whether this browser tells how elements fare: in a crowd a few do, and the limits hold. */
    isHeard: () => kept()?.isHeard ?? false,
    /** Whether what can wait must not be asked for now, as far as this browser knows. */
    isCrowded: () => (kept()?.crowd ?? 0) > crowdedShare,
    /** @returns whether the flows are others than those that are known, or may well be */
    async beat(): Promise<boolean> {
      const known = kept()
      if (!known || isWithin(keep.get<number>('heartbeat') ?? 0, heartbeatMs)) return false
      // Before it is sent: other tabs must not send theirs meanwhile.
      keep.set('heartbeat', Date.now())
      if (!known.isHeard) return !isWithin(known.askedAt, staleMs)
      const query = new URLSearchParams({ v: version, url: url(), sid: sessionId() })
      const response = await transport.ask('heartbeat', `/heartbeat?${query}`)
      const answer = await response?.json().catch(() => null)
      return typeof answer?.flowsVersion === 'string' && answer.flowsVersion !== known.version
    },
  }
}

async function answerIn(response: Response): Promise<Answer | null> {
  const answer = await response.json().catch(() => null)
  return Array.isArray(answer?.flows) ? answer : null
}

/** Every answer says how many requests the minute still has. */
function crowdIn({ headers }: Response): number {
  const limit = Number(headers.get('X-RateLimit-Limit'))
  return limit > 0 ? 1 - Number(headers.get('X-RateLimit-Remaining')) / limit : 0
}

/**
 * Of a crowd so many that few more are heard in a minute than of the most that are none: the k-th of a
 * minute with 1/k² of those, whose sum grows no further.
 */
const chanceIn = (crowd: number): number => Math.min(1, (quietShare / crowd) ** 2)

export type Presence = ReturnType<typeof createPresence>
