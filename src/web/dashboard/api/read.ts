import { batch, type Signal, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { dayMs, minuteMs } from '../../../core/time/durations.ts'
import { isLeftOpen, onReturn } from './attention.ts'
import { Failure } from './failure.ts'
import { ask } from './request.ts'
import { presence } from './session.ts'

/**
 * How often a visible page asks again. At this rate, twenty screens of one organisation stay far below
 * its limit.
 */
export const defaultMs = 15_000

/** How often it asks while somebody waits for something to happen, or while the server is away. */
export const soonMs = 5_000

/** How often it asks for data that does not change. */
export const never = dayMs

/** How often a page that was left open asks. */
const leftOpenMs = minuteMs

/** Faster reading keeps its pace, because somebody may wait for something without touching the page. */
const paceOf = (everyMs: number): number =>
  everyMs >= defaultMs && isLeftOpen() ? Math.max(everyMs, leftOpenMs) : everyMs

/** What was read from one address, kept for as long as somebody may come back to it. */
export class Reading<T> {
  readonly data: Signal<T | null> = signal(null)
  readonly failure: Signal<Failure | null> = signal(null)
  /** When the data was last known to be current, epoch milliseconds. */
  readonly at: Signal<number | null> = signal(null)
  private etag: string | null = null
  private underWay: Promise<void> | null = null

  constructor(protected readonly path: string) {}

  /** Asks again, or waits for the request that is already under way. */
  load(): Promise<void> {
    return this.underWay ?? this.loadAnew()
  }

  /** Asks again after a change. A request already under way may show the old state, so it no longer counts. */
  loadAnew(): Promise<void> {
    const ownRequest: Promise<void> = this.ask(() => this.underWay === ownRequest).finally(() => {
      if (this.underWay === ownRequest) this.underWay = null
    })
    this.underWay = ownRequest
    return ownRequest
  }

  private async ask(counts: () => boolean): Promise<void> {
    try {
      const value = await this.take()
      if (!counts()) return
      batch(() => {
        if (value !== null) this.data.value = value
        this.failure.value = null
        this.at.value = Date.now()
      })
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (counts()) this.failure.value = error
    }
  }

  /** The current data; null if it has not changed. @throws Failure */
  protected async take(): Promise<T | null> {
    const { value, etag } = await ask<T>(this.path, { known: this.etag })
    this.etag = etag
    return value
  }

  /** When to ask again without being told to, in milliseconds from now. */
  nextIn(everyMs: number): number {
    const failure = this.failure.peek()
    if (failure === null) return everyMs
    const { retryAt } = failure.response
    if (retryAt) return Math.max(0, retryAt - Date.now())
    // A refused request would be refused again, but a server that is away comes back.
    return failure.isPassing ? Math.min(everyMs, soonMs) : Number.POSITIVE_INFINITY
  }
}

const readings = new Map<string, Reading<unknown>>()
const maxReadings = 60

function readingOf<T>(path: string): Reading<T> {
  const known = readings.get(path) ?? new Reading<unknown>(path)
  // Moved behind all others, so that the first one is always the least recently used.
  readings.delete(path)
  readings.set(path, known)
  if (readings.size > maxReadings) readings.delete(readings.keys().next().value!)
  return known as Reading<T>
}

/** Reads everything that is shown again, for example after a change. */
export const readAgain = (): void => {
  for (const reading of readings.values()) if (reading.at.peek() !== null) reading.loadAnew()
}

/** Takes the answer to a change as the data of an address, until that is read again. */
export const know = <T>(path: string, value: T): void => {
  readingOf<T>(path).data.value = value
}

/** Forgets what was read from an address that has nothing any more. */
export const forgetReading = (path: string): void => void readings.delete(path)

/** What a page shows of what an address has. */
export interface Read<T> {
  data: T | null
  failure: Failure | null
  /** When the data was last known to be current, epoch milliseconds. */
  at: number | null
  /** Whether the data is still that of the previous address, because this one's has not come yet. */
  isOld: boolean
  again(): void
}

/** Keeps asking while the page is visible: less often while nobody is at it, at once when somebody returns. */
export function keepReading(reading: Reading<unknown>, everyMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const isSeen = () => document.visibilityState === 'visible'
  const plan = () => {
    const wait = reading.nextIn(paceOf(everyMs))
    clearTimeout(timer)
    if (isOver || !isSeen() || wait === Number.POSITIVE_INFINITY) return
    timer = setTimeout(turn, wait)
  }
  const turn = () => {
    clearTimeout(timer)
    if (isOver || !isSeen()) return
    // It goes on after any failure, one of our own included.
    reading.load().then(plan, plan)
  }
  turn()
  const stopReturns = onReturn(turn)
  const stopWatching = presence.subscribe(
    state => state === 'in' && reading.failure.peek() && turn(),
  )
  return () => {
    isOver = true
    clearTimeout(timer)
    stopWatching()
    stopReturns()
  }
}

/**
 * Reads an address of the API, and reads it again every few seconds while the page is visible. If the
 * address changes, for example by a filter, the old data stays until the new data has come.
 *
 * @param path below `/api/v1`; null if there is nothing to ask yet
 */
export function useRead<T>(path: string | null, everyMs = defaultMs): Read<T> {
  const shown = useRef<Reading<T> | null>(null)
  const reading = path === null ? null : readingOf<T>(path)
  useEffect(
    () => (path === null ? undefined : keepReading(readingOf(path), everyMs)),
    [path, everyMs],
  )
  const isNew = reading?.data.value != null
  if (isNew) shown.current = reading
  return {
    data: (isNew ? reading : shown.current)?.data.value ?? null,
    failure: reading?.failure.value ?? null,
    at: (isNew ? reading : shown.current)?.at.value ?? null,
    isOld: !isNew && shown.current !== null,
    again: () => void reading?.load(),
  }
}
