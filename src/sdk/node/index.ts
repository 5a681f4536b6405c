import { uuid } from '../../web/snippet/uuid.ts'
import { CairnError, type Connection, type Fetch, requested } from './requests.ts'
import { createSender, type Rejection, type SenderOptions } from './sender.ts'
import { userHash } from './user-hash.ts'

export type { Rejection, WaitingEvent } from './sender.ts'
export { CairnError, userHash }

type Optional<Options> = { [Name in keyof Options]?: Options[Name] | undefined }

export interface CairnClientOptions extends Optional<SenderOptions> {
  /** Where your server is: `https://cairn.example.com`. */
  url: string
  /** The snippet key of your organisation. */
  key: string
  /** Needed where identities are verified: the client uses it to prove each user. */
  identitySecret?: string | undefined
  /** How long calls with an answer are retried, milliseconds; 15,000 unless set. */
  patienceMs?: number | undefined
  /** Used in place of the runtime's own. */
  fetch?: Fetch | undefined
}

export interface Tracking {
  /** When it happened; now unless set. */
  occurredAt?: Date | number | undefined
}

/** A person's progress in a checklist, as the API returns it. */
export interface ChecklistProgress {
  flowId: string
  userId: string
  items: {
    id: string
    key: string
    title: string
    completed: boolean
    completedAt: string | null
  }[]
  completed: number
  total: number
  percent: number
  completedAt: string | null
}

export interface Completion {
  flowId: string
  userId: string
  status: 'completed'
  completedAt: string
  alreadyCompleted: boolean
}

/** How long the process is held up when it ends, milliseconds. */
const exitMs = 5_000
/** How long the ids of flow keys are cached, and how soon they are fetched again for an unknown key. */
const flowsKnownMs = 5 * 60_000
const flowsAgainMs = 10_000

/** What a back end tells Cairn. It does not keep the process alive, but delays its end by at most five seconds. */
export function createCairnClient(options: CairnClientOptions) {
  const { identitySecret, patienceMs = 15_000 } = options
  const connection: Connection = {
    url: options.url.replace(/\/+$/, ''),
    key: options.key,
    // Called as a plain function, because some runtimes refuse it as a method of another object.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
  }
  const sender = createSender(connection, {
    flushAt: options.flushAt ?? 50,
    flushAfterMs: options.flushAfterMs ?? 1_000,
    maxWaiting: options.maxWaiting ?? 10_000,
    onRejected: options.onRejected ?? warn,
  })
  /** Events whose user must still be proven before they can wait to be sent. */
  const proving = new Set<Promise<void>>()

  const named = async (userId: string) => ({
    userId,
    ...(identitySecret !== undefined && { userHash: await userHash(identitySecret, userId) }),
  })

  const flush = async ({ timeoutMs = patienceMs } = {}) => {
    await Promise.all(proving)
    return sender.flush(timeoutMs)
  }
  const runtime = (globalThis as { process?: Partial<Process> }).process
  const atExit = async () => {
    if (proving.size === 0 && sender.waiting === 0) return
    // Rejects what could not be sent now, because this is called again as long as there is work.
    if (!(await flush({ timeoutMs: exitMs }))) sender.giveUp()
  }
  runtime?.on?.('beforeExit', atExit)

  let flowIds = new Map<string, string>()
  let flowsAt = Number.NEGATIVE_INFINITY
  const flowIdOf = async (flow: string): Promise<string> => {
    if (/^flow_\w{16,}$/.test(flow)) return flow
    const age = Date.now() - flowsAt
    if (age > (flowIds.has(flow) ? flowsKnownMs : flowsAgainMs)) {
      type Flows = { flows: { id: string; key: string }[] }
      const { flows } = await requested<Flows>(connection, '/flows', undefined, patienceMs)
      flowIds = new Map(flows.map(({ id, key }) => [key, id]))
      flowsAt = Date.now()
    }
    const id = flowIds.get(flow)
    if (id === undefined)
      throw new CairnError(`no flow "${flow}" is published`, 404, 'flow_not_found')
    return id
  }

  const tick = async (userId: string, flow: string, itemKey: string, completed: boolean) =>
    requested<ChecklistProgress>(
      connection,
      `/flows/${await flowIdOf(flow)}/checklist-progress`,
      { ...(await named(userId)), items: [{ key: itemKey, completed }] },
      patienceMs,
    )

  return {
    /** Reports an event of your own. It waits for others, and is sent again until the server has it. */
    track(
      userId: string,
      name: string,
      properties?: Readonly<Record<string, unknown>>,
      { occurredAt = Date.now() }: Tracking = {},
    ): void {
      const about = {
        id: uuid(),
        kind: 'custom' as const,
        name,
        occurredAt: Number(occurredAt),
        ...(properties && { properties }),
      }
      if (identitySecret === undefined) {
        sender.add({ ...about, userId })
        return
      }
      const proven = named(userId).then(names => sender.add({ ...about, ...names }))
      const isDone = () => void proving.delete(proven)
      proving.add(proven)
      proven.then(isDone, isDone)
    },
    /** Ticks an item of a checklist. Both are named by their keys. */
    completeItem: (userId: string, flow: string, itemKey: string) =>
      tick(userId, flow, itemKey, true),
    /** Takes a tick back. */
    reopenItem: (userId: string, flow: string, itemKey: string) =>
      tick(userId, flow, itemKey, false),
    /** Completes a flow, by its key. If it is called again, the first time stands. */
    async complete(userId: string, flow: string): Promise<Completion> {
      const path = `/flows/${await flowIdOf(flow)}/complete`
      return requested<Completion>(connection, path, await named(userId), patienceMs)
    },
    /** Sends what waits. Await it where a worker ends. @returns whether everything was sent in time */
    flush,
    /** Sends what waits, and stops listening for the process's end. What could not be sent goes to `onRejected`. */
    async close(): Promise<boolean> {
      const isAllSent = await flush()
      if (!isAllSent) sender.giveUp()
      runtime?.off?.('beforeExit', atExit)
      return isAllSent
    },
  }
}

export type CairnClient = ReturnType<typeof createCairnClient>

interface Process {
  on(name: 'beforeExit', listener: () => void): void
  off(name: 'beforeExit', listener: () => void): void
}

const warn = ({ reason, message, events }: Rejection) =>
  console.warn(`cairn: ${events.length} events were not stored (${reason}): ${message}`)
