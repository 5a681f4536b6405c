import type { Cairn } from '../../web/snippet/api.ts'
import { earlyCalls } from '../../web/snippet/calls.ts'

/** A waiting call, in the form in which the server's script takes it over: see `installStub`. */
type Call = [name: keyof Cairn, ...args: unknown[]] & { r?(answer?: unknown): void }
type Waiting = Partial<Record<keyof Cairn, unknown>> & { q?: Call[] }
type Holder = { cairn?: Waiting }

/** What `window.cairn` can answer before the script has loaded. */
const answersAtOnce = { isActive: () => false, progress: () => null }

/** Calls go to `window.cairn`, which keeps them until the script has loaded and makes them in order. */
export function queued(page: Window) {
  const holder = page as unknown as Holder
  const waiting: Call[] = []
  // `window.cairn` may also be an element with this id.
  const own = typeof holder.cairn?.identify === 'function' ? {} : stub(waiting)
  if ('q' in own) holder.cairn = { ...own }
  const warned = new Set<string>()

  return {
    has: (name: keyof Cairn) => typeof holder.cairn?.[name] === 'function',
    call(name: keyof Cairn, args: readonly unknown[]): unknown {
      const made = holder.cairn?.[name]
      if (typeof made === 'function') return made(...args)
      // If no script has loaded, that was reported already.
      const isOlder = holder.cairn && 'identify' in holder.cairn && !warned.has(name)
      if (isOlder) console.warn(`cairn: the server's script is older, and has no ${name}()`)
      warned.add(name)
      return undefined
    },
    /**
     * The script has loaded, or never will. An older script makes the calls that it knows, but answers
     * none of them. Methods of the stub that it did not replace do not exist in it, and are removed.
     */
    settle() {
      for (const call of waiting.splice(0)) call.r?.()
      for (const name of Object.keys(own) as (keyof Cairn)[]) {
        if (holder.cairn?.[name] === own[name]) delete holder.cairn?.[name]
      }
    },
  }
}

function stub(waiting: Call[]): Waiting {
  const q: Call[] = []
  const keep = (name: keyof Cairn, args: unknown[]) => {
    const call: Call = [name, ...args]
    q.push(call)
    waiting.push(call)
    return call
  }
  const made: Waiting = { q, ...answersAtOnce }
  for (const name of earlyCalls) {
    made[name] = (...args: unknown[]) =>
      new Promise(resolve => {
        keep(name, args).r = resolve
      })
  }
  made.on = (name: string, listener?: (what: unknown) => void) => {
    let heard: typeof listener | null = listener
    keep('on', [name, (what: unknown) => heard?.(what)])
    return () => {
      heard = null
    }
  }
  return made
}
