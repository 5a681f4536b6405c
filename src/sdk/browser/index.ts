import type { Cairn, Identified } from '../../web/snippet/api.ts'
import { earlyPatienceMs } from '../../web/snippet/calls.ts'
import { inert } from './inert.ts'
import { type CairnClient, type CairnOptions, loadSnippet } from './load.ts'
import { queued } from './queue.ts'

export type * from '../../web/snippet/api.ts'
export type { CairnClient, CairnOptions } from './load.ts'
export { checklistStore, type FlowState, flowStore, launcherStore, type Store } from './stores.ts'

const clients = new Map<string, CairnClient>()
const onServer: CairnClient = { ...inert, ready: new Promise(() => {}) }

/**
 * Loads the script that your server hosts, so that upgrading the server upgrades every page. Returns
 * `window.cairn` with types. Calls wait for the script. The same server and key give the same client
 * again. Where there is no page, the client does nothing.
 */
export function createCairn(options: CairnOptions): CairnClient {
  if (typeof window === 'undefined' || !window.document) return onServer
  const url = options.url.replace(/\/+$/, '')
  const name = `${url} ${options.key}`
  const known = clients.get(name)
  if (known) return known
  if (clients.size > 0) console.warn('cairn: this page asks for two servers or keys: one is used')
  const client = clients.values().next().value ?? clientOf({ ...options, url })
  clients.set(name, client)
  return client
}

function clientOf(options: CairnOptions): CairnClient {
  const calls = queued(window)
  const loading = loadSnippet(options, window)
  const ready = loading.then(
    () => {
      calls.settle()
      return true
    },
    (error: Error) => {
      calls.settle()
      console.warn(`cairn: ${error.message}`)
      options.onLoadFailure?.(error)
      return false
    },
  )
  if (options.headless) {
    ready.then(isThere => {
      if (isThere && !calls.has('isActive')) {
        console.warn('cairn: the server is older than headless mode, and draws flows itself')
      }
    })
  }
  const { call } = calls
  /** An older script gives no answer. That counts as `alone`, as it does if no script has loaded. */
  const met = (answer: unknown): Promise<Identified> =>
    Promise.race([
      Promise.resolve(answer).then(outcome => (outcome as Identified | undefined) ?? 'alone'),
      new Promise<Identified>(resolve => {
        ready.then(() => setTimeout(resolve, earlyPatienceMs, 'alone'))
      }),
    ])
  return {
    ready,
    identify: (...args) => met(call('identify', args)),
    group: (...args) => void call('group', args),
    track: (...args) => void call('track', args),
    start: (...args) => void call('start', args),
    stop: () => void call('stop', []),
    highlight: async (...args: unknown[]) => (await call('highlight', args)) === true,
    reset: ((...args: [never]) => {
      const answer = call('reset', args)
      return args[0] === undefined ? undefined : met(answer)
    }) as Cairn['reset'],
    isActive: (...args) => (call('isActive', args) as boolean | undefined) ?? false,
    progress: (...args) => (call('progress', args) as ReturnType<Cairn['progress']>) ?? null,
    flows: async () => ((await call('flows', [])) as Awaited<ReturnType<Cairn['flows']>>) ?? [],
    why: async (...args) =>
      ((await call('why', args)) as Awaited<ReturnType<Cairn['why']>>) ?? null,
    debug: (...args) => void call('debug', args),
    on: (...args) => (call('on', args as never) as (() => void) | undefined) ?? (() => {}),
    consent: (...args) => void call('consent', args),
  }
}
