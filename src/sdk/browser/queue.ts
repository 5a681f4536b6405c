import type { Cairn } from '../../web/snippet/api.ts'
import { earlyCalls } from '../../web/snippet/calls.ts'

/** As the script that the server hosts takes over what has waited: see `installStub`. */
type Call = [name: keyof Cairn, ...args: unknown[]] & { r?(answer?: unknown): void }
type Waiting = Partial<Record<keyof Cairn, unknown>> & { q?: Call[] }
type Holder = { cairn?: Waiting }

/** What `window.cairn` knows already before the script has come. */
const answersAtOnce = { isActive: () => false, progress: () => null }

/** Calls go to `window.cairn`, which keeps them until the script has come and makes them in their order. */
export function queued(page: Window) {
  const holder = page as unknown as Holder
  const waiting: Call[] = []
  // What stands there may be an element by this id.
  const own = typeof holder.cairn?.identify === 'function' ? {} : stub(waiting)
  if ('q' in own) holder.cairn = { ...own }
  const told = new Set<string>()

  return {
    has: (name: keyof Cairn) => typeof holder.cairn?.[name] === 'function',
    call(name: keyof Cairn, args: readonly unknown[]): unknown {
      const made = holder.cairn?.[name]
      if (typeof made === 'function') return made(...args)
      // Where no script has come that was told already.
      const isOlder = holder.cairn && 'identify' in holder.cairn && !told.has(name)
      if (isOlder) console.warn(`cairn: the server's script is older, and has no ${name}()`)
      told.add(name)
      return undefined
    },
    /**
     * The script has come, or never will. An older one makes the calls that it knows, and gives no
     * answers: what is ours still is not there then.
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
