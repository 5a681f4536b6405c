import { recordOf } from './page-values.ts'
import type { BrowserStore, NewEvent, Outbox, Person } from './parts.ts'
import { isWithin } from './recency.ts'
import type { Transport } from './transport.ts'
import { uuid } from './uuid.ts'

/** When a batch is sent: at this many events, or this long after the first of them. */
const fullBatch = 20
const batchAfterMs = 5_000
/** How many events the API takes in one request. */
const maxInRequest = 50
/** All beacons of a page share 64 KiB in flight (Fetch standard, keepalive). */
const beaconBytes = 60 * 1024
/** Enough to keep all of an hour offline, but not of a page that reports without end. */
const maxWaiting = 1_000
/** From this many waiting events on, they are saved with pauses; fewer at once, as a tab may be killed. */
const manyWaiting = 50
const saveAfterMs = 200
/** A tab that has not saved for this long is gone. */
const abandonedMs = 10_000
const queuePrefix = 'out:'
type Queued = Readonly<Record<string, unknown>> & { id: string }

interface Queue {
  savedAt: number
  /** Whether the page has been left. */
  isLeft: boolean
  events: Queued[]
}

export interface OutboxDeps {
  store: BrowserStore
  transport: Transport
  /** The id of this page load, which has a queue of its own, so that two tabs never write the same one. */
  tab: string
  person(): Person
  sessionId(): string
  /** The page's address as it may be reported. */
  url(): string
  page: Window
}

/** How a report names a person. */
export const namesOf = ({ userId, anonymousId, userHash }: Person) => ({
  ...(userId === null ? { anonymousId } : { userId }),
  ...(userHash !== null && userId !== null && { userHash }),
})

/**
 * Sends what happened. Each event has its id from the moment it happens and waits in storage until its
 * verdict has come. A beacon never gets an answer, so what went by beacon is sent again from the next
 * page. The server stores an id once.
 */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { store, transport, tab, page } = deps
  const ownQueue = queuePrefix + tab
  let waiting: Queued[] = []
  let maxTogether = maxInRequest
  let isSending = false
  let state: 'held' | 'speaking' | 'silent' = 'held'
  /** Work that goes on once the state is no longer `held`. */
  let held: (() => void)[] = []
  const letGo = () => {
    for (const goOn of held) goOn()
    held = []
  }
  let sendTimer: number | undefined
  let saveTimer: number | undefined

  const save = (isLeft = false) => {
    page.clearTimeout(saveTimer)
    saveTimer = undefined
    if (waiting.length === 0) store.remove(ownQueue)
    else store.set(ownQueue, { savedAt: Date.now(), isLeft, events: waiting } satisfies Queue)
  }
  const saveSoon = () => {
    if (waiting.length < manyWaiting) save()
    else saveTimer ??= page.setTimeout(save, saveAfterMs)
  }
  const sendIn = (ms: number) => {
    page.clearTimeout(sendTimer)
    sendTimer = page.setTimeout(send, ms)
  }

  /** Takes over what tabs that are gone have left behind. */
  const adopt = () => {
    let hasMore = false
    for (const name of store.names(queuePrefix)) {
      const left = name === ownQueue ? null : store.get<Queue>(name)
      if (!Array.isArray(left?.events)) continue
      if (!left.isLeft && isWithin(left.savedAt, abandonedMs)) continue
      waiting = [...left.events.filter(isQueued), ...waiting].slice(-maxWaiting)
      save()
      store.remove(name)
      hasMore = true
    }
    if (hasMore) sendIn(0)
  }

  /** Adds the user hash that the page knows by now: it may have come late, or the secret was rotated. */
  const proven = (event: Queued): Queued => {
    const { userId, userHash } = namesOf(deps.person()) as Partial<Person>
    return userHash && event.userId === userId ? { ...event, userHash } : event
  }

  const envelope = (events: readonly Queued[]) => ({
    sentAt: Date.now(),
    events: events.map(proven),
  })

  async function send(): Promise<void> {
    if (isSending || state !== 'speaking' || waiting.length === 0) return
    const pauseMs = transport.pauseMs('events')
    if (pauseMs > 0) return sendIn(pauseMs)
    isSending = true
    const batch = waiting.slice(0, maxTogether)
    const response = await transport.ask('events', '/events', {
      method: 'POST',
      body: envelope(batch),
    })
    isSending = false
    if (response) {
      const isTooMuch = response.status === 413 && batch.length > 1
      if (isTooMuch) {
        maxTogether = Math.ceil(batch.length / 2)
      } else {
        // Every event has had its verdict: one that is refused now would be refused again.
        waiting = parted(batch).others
        maxTogether = Math.min(maxTogether * 2, maxInRequest)
        saveSoon()
      }
    } else if (transport.isRefused('events')) {
      // These may be events of somebody who could not be proven. Others must not wait behind them.
      const { others, those } = parted(batch)
      waiting = [...others, ...those]
    }
    if (waiting.length > 0) sendIn(transport.pauseMs('events'))
  }

  /** What still waits: those of a batch, and the others. More may have come meanwhile, or all have gone. */
  const parted = (batch: readonly Queued[]) => {
    const ids = new Set(batch.map(({ id }) => id))
    return {
      others: waiting.filter(({ id }) => !ids.has(id)),
      those: waiting.filter(({ id }) => ids.has(id)),
    }
  }

  /** What the browser has taken since the page was last visible. A page is hidden before it is left. */
  const handedOver = new Set<string>()

  /** Sends all that fits by beacon. An event that is sent twice is stored once. */
  const leave = () => {
    let room = beaconBytes
    if (state !== 'speaking') return
    const left = waiting.filter(({ id }) => !handedOver.has(id))
    for (let from = 0; from < left.length; from += maxInRequest) {
      const batch = left.slice(from, from + maxInRequest)
      while (batch.length > 0) {
        const body = JSON.stringify(envelope(batch))
        const size = new Blob([body]).size
        if (size <= room && transport.beacon('/events', body)) {
          room -= size
          for (const { id } of batch) handedOver.add(id)
          break
        }
        // Half of it may fit.
        batch.length = Math.floor(batch.length / 2)
      }
      if (batch.length < maxInRequest) break
    }
    save(true)
  }

  const report = (event: NewEvent): string => {
    const id = uuid()
    if (state === 'silent') return id
    const { properties, ...rest } = event
    const copied = recordOf(properties)
    waiting.push({
      id,
      ...namesOf(deps.person()),
      sessionId: deps.sessionId(),
      occurredAt: Date.now(),
      url: deps.url(),
      ...rest,
      ...(copied && { properties: copied }),
    })
    if (waiting.length > maxWaiting) waiting.shift()
    saveSoon()
    if (waiting.length >= fullBatch) sendIn(0)
    else if (waiting.length === 1) sendIn(batchAfterMs)
    return id
  }

  page.document.addEventListener('visibilitychange', () => {
    if (page.document.visibilityState === 'hidden') return leave()
    handedOver.clear()
    send()
  })
  page.addEventListener('pagehide', leave)
  page.addEventListener('online', () => {
    transport.forgive()
    send()
  })

  return {
    report,
    flush: () => sendIn(0),
    withdraw(runId) {
      waiting = waiting.filter(event => event.runId !== runId)
      save()
    },
    rename(wasVisitor) {
      const names = namesOf(deps.person())
      waiting = waiting.map(event => {
        const { userId, anonymousId, userHash, ...rest } = event
        if (!event.runId) return { ...rest, ...names } as Queued
        return wasVisitor ? { ...event, ...names } : event
      })
      save()
    },
    settled: () => new Promise(resolve => (state === 'held' ? held.push(resolve) : resolve())),
    maySpeak: () => state === 'speaking',
    silence() {
      state = 'silent'
      letGo()
      waiting = []
      for (const name of store.names(queuePrefix)) store.remove(name)
    },
    speak() {
      if (state === 'speaking') return
      state = 'speaking'
      letGo()
      if (waiting.length > 0) sendIn(batchAfterMs)
      adopt()
      page.setTimeout(adopt, abandonedMs)
    },
  }
}

/** Other scripts write into this storage too, and may have written anything. */
const isQueued = (event: Queued | null): event is Queued => typeof event?.id === 'string'
