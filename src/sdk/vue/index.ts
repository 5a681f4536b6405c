import {
  type CairnClient,
  type CairnOptions,
  type ChecklistShown,
  checklistStore,
  createCairn,
  type FlowState,
  flowStore,
  type LauncherShown,
  launcherStore,
  type Store,
} from '@cairn/browser'
import {
  type InjectionKey,
  inject,
  type MaybeRefOrGetter,
  onScopeDispose,
  type Plugin,
  type ShallowRef,
  shallowRef,
  toValue,
  watch,
} from 'vue'

const injected: InjectionKey<CairnClient> = Symbol('cairn')

/** `app.use(createCairnPlugin({ url, key }))`. It loads the script only in the browser, once a page. */
export const createCairnPlugin = (options: CairnOptions): Plugin => ({
  install(app) {
    app.provide(injected, createCairn(options))
  },
})

/** Everything that a page can say and ask. */
export function useCairn(): CairnClient {
  const client = inject(injected, null)
  if (!client) throw new Error('useCairn() needs app.use(createCairnPlugin(…))')
  return client
}

/** Follows a store, and switches to another one when what it depends on has changed. */
function followed<State>(make: () => Store<State>): Readonly<ShallowRef<State>> {
  const state: ShallowRef<State> = shallowRef(make().get())
  let end = () => {}
  // In server-side rendering nothing ever changes, so nobody subscribes.
  watch(
    make,
    store => {
      end()
      state.value = store.get()
      if (typeof window === 'undefined') return
      end = store.subscribe(() => {
        state.value = store.get()
      })
      state.value = store.get()
    },
    { immediate: true },
  )
  onScopeDispose(() => end())
  return state
}

/** The state of a flow, and functions to start and stop it. */
export function useFlow(flowKey: MaybeRefOrGetter<string>): {
  state: Readonly<ShallowRef<FlowState>>
  start(): void
  stop(): void
} {
  const client = useCairn()
  return {
    state: followed(() => flowStore(client, toValue(flowKey))),
    start: () => client.start(toValue(flowKey)),
    stop: () => client.stop(),
  }
}

/** In headless mode, the checklist to draw, with its actions: any checklist, or only the one with that key. */
export function useChecklist(
  flowKey?: MaybeRefOrGetter<string>,
): Readonly<ShallowRef<ChecklistShown | null>> {
  const client = useCairn()
  return followed(() =>
    checklistStore(client, flowKey === undefined ? undefined : toValue(flowKey)),
  )
}

/** In headless mode, the launcher to draw, with its actions: any launcher, or only the one with that key. */
export function useLauncher(
  flowKey?: MaybeRefOrGetter<string>,
): Readonly<ShallowRef<LauncherShown | null>> {
  const client = useCairn()
  return followed(() => launcherStore(client, flowKey === undefined ? undefined : toValue(flowKey)))
}

export type * from '@cairn/browser'
