import type { Static } from '@sinclair/typebox'
import { useEffect, useMemo } from 'preact/hooks'
import type { Activity } from '../../../storage/interfaces/events.ts'
import { keepReading, type Read, Reading } from '../api/read.ts'
import { ask } from '../api/request.ts'

const watchEveryMs = 2_000

/** The same number as the server remembers. */
const maxShown = 500

export type SeenEvent = Static<typeof Activity>['events'][number] & { number: number }

/** What has arrived since somebody started to watch, the newest first. */
export interface Watched extends Pick<Static<typeof Activity>, 'cursor' | 'since' | 'missed'> {
  events: readonly SeenEvent[]
}

/** Asks for new events, and puts them above the known ones. */
class Watch extends Reading<Watched> {
  private count = 0

  protected override async take(): Promise<Watched | null> {
    const known = this.data.peek()
    const { value } = await ask<Static<typeof Activity>>(
      known ? `${this.path}?after=${known.cursor}` : this.path,
    )
    if (value === null) return null
    const { cursor, since, isAnew, missed } = value
    if (known && !isAnew && cursor === known.cursor) return null
    const added = value.events.map(event => ({ ...event, number: ++this.count })).toReversed()
    // A person may have been erased, so everything received before is forgotten.
    if (!known || isAnew) return { cursor, since, missed, events: added }
    const events = [...added, ...known.events].slice(0, maxShown)
    return { cursor, since, missed: known.missed + missed, events }
  }
}

/** Watches what arrives while the page is visible and nobody has paused it. */
export function useWatch(isPaused: boolean): Read<Watched> {
  const watch = useMemo(() => new Watch('/manage/activity'), [])
  useEffect(() => (isPaused ? undefined : keepReading(watch, watchEveryMs)), [isPaused])
  return {
    data: watch.data.value,
    failure: watch.failure.value,
    at: watch.at.value,
    isOld: false,
    again: () => void watch.load(),
  }
}
