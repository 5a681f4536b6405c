import type { BrowserStore } from './parts.ts'
import { isWithin } from './recency.ts'

/** Lets go of what a tab holds. */
export type LetGo = () => void

/** How long a lease lasts without renewal, and how often it is renewed, milliseconds. */
const leaseMs = 4_000
const renewMs = 1_000
/** Two tabs that take a lease at the same moment see by then whose it is, milliseconds. */
const settleMs = 60

interface Lease {
  tab: string
  /** When it was taken or renewed. */
  at: number
}

/**
 * Guards what one tab at a time may do. Uses Web Locks, which browsers offer on secure pages; elsewhere a
 * lease in storage, which a closed tab leaves behind for a few seconds.
 *
 * @returns a function that waits until no other tab holds a name, then holds it until it is let go
 *   or the tab is gone
 */
export function createTabs(prefix: string, tab: string, store: BrowserStore, page: Window) {
  const { locks } = page.navigator

  const holdLock = (name: string) =>
    new Promise<LetGo>((resolve, reject) => {
      const held = () => new Promise<void>(letGo => resolve(() => letGo()))
      locks.request(prefix + name, held).catch(reject)
    })

  const holdLease = (name: string) =>
    new Promise<LetGo>(resolve => {
      const key = `lease:${name}`
      const isMine = () => store.get<Lease>(key)?.tab === tab
      const isTaken = () => {
        const lease = store.get<Lease>(key)
        return lease !== null && lease.tab !== tab && isWithin(lease.at, leaseMs)
      }
      /** A tab that slept renews late, and must not take the lease from the tab that has it now. */
      const take = () => {
        if (!isTaken()) store.set(key, { tab, at: Date.now() } satisfies Lease)
      }
      const attempt = () => {
        if (isTaken()) return page.setTimeout(attempt, renewMs)
        take()
        page.setTimeout(() => {
          if (!isMine()) return attempt()
          const renewing = page.setInterval(take, renewMs)
          resolve(() => {
            page.clearInterval(renewing)
            if (isMine()) store.remove(key)
          })
        }, settleMs)
      }
      attempt()
    })

  return (name: string): Promise<LetGo> =>
    locks ? holdLock(name).catch(() => holdLease(name)) : holdLease(name)
}
