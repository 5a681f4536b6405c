import type { Flow, Keep } from './parts.ts'
import type { Transport } from './transport.ts'

/** How long a flow list is taken as it is, milliseconds: what its `Cache-Control` says. */
const freshMs = 60_000
/** At most one heartbeat in this time, over all tabs of the browser. */
const heartbeatMs = 5 * 60_000

interface KeptFlows {
  askedAt: number
  etag: string | null
  version: string
  flows: Flow[]
  /** The organisation heeds browsers that ask not to be tracked. */
  honoursDoNotTrack?: boolean
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
  const kept = () => keep.get<KeptFlows>('flows')

  async function refresh(): Promise<readonly Flow[]> {
    const known = kept()
    const headers = known?.etag ? { headers: { 'If-None-Match': known.etag } } : {}
    const response = await transport.ask('flows', '/flows', headers)
    if (response?.status === 304 && known) keep.set('flows', { ...known, askedAt: Date.now() })
    if (response?.status !== 200) return known?.flows ?? []
    const answer = (await response.json().catch(() => null)) as KeptFlows | null
    if (!answer) return known?.flows ?? []
    keep.set('flows', {
      askedAt: Date.now(),
      etag: response.headers.get('ETag'),
      version: answer.version,
      flows: answer.flows,
      honoursDoNotTrack: answer.honoursDoNotTrack === true,
    } satisfies KeptFlows)
    return answer.flows
  }

  return {
    /** The flows as of a minute ago at most; as last known where the server does not answer. */
    flows(): Promise<readonly Flow[]> {
      const known = kept()
      const isFresh = known !== null && Date.now() - known.askedAt < freshMs
      return isFresh ? Promise.resolve(known.flows) : refresh()
    },
    refresh,
    honoursDoNotTrack: () => kept()?.honoursDoNotTrack === true,
    /** @returns whether the flows are others than those that are known */
    async beat(): Promise<boolean> {
      const now = Date.now()
      if (now < (keep.get<number>('heartbeat') ?? 0)) return false
      // Before it is sent: other tabs must not send theirs meanwhile.
      keep.set('heartbeat', now + heartbeatMs)
      const query = new URLSearchParams({ v: version, url: url(), sid: sessionId() })
      const response = await transport.ask('heartbeat', `/heartbeat?${query}`)
      const answer = await response?.json().catch(() => null)
      return typeof answer?.flowsVersion === 'string' && answer.flowsVersion !== kept()?.version
    },
  }
}

export type Presence = ReturnType<typeof createPresence>
