import {
  type CairnClient,
  type CairnOptions,
  type ChecklistShown,
  checklistStore,
  createCairn,
  type FlowState,
  flowStore,
  type Identity,
  type LauncherShown,
  launcherStore,
} from '@cairn/browser'
import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'

const Context = createContext<CairnClient | null>(null)

export interface CairnProviderProps {
  /** Where Cairn is. Read once, at the first render. */
  options: CairnOptions
  /** Who is there. Null is nobody; after somebody, it logs them out. Without it, call `identify()` yourself. */
  user?: Identity | null | undefined
  children?: ReactNode
}

/** Provides Cairn to its children. It loads the script only in the browser, once a page. */
export function CairnProvider({ options, user, children }: CairnProviderProps): ReactNode {
  const [client] = useState(() => createCairn(options))
  // Compared as text, because most pages pass a new object at every render.
  const identity = user === undefined ? undefined : JSON.stringify(user)
  const before = useRef<string>(undefined)
  useEffect(() => {
    if (identity === undefined || identity === before.current) return
    const wasSomebody = before.current !== undefined && before.current !== 'null'
    before.current = identity
    if (user) client.identify(user.userId, user.traits, user.userHash)
    else if (wasSomebody) client.reset()
  }, [client, identity])
  return createElement(Context.Provider, { value: client }, children)
}

/** Everything that a page can say and ask. */
export function useCairn(): CairnClient {
  const client = useContext(Context)
  if (!client) throw new Error('useCairn() needs a <CairnProvider> around it')
  return client
}

/** The state of a flow, and functions to start and stop it. */
export function useFlow(flowKey: string): FlowState & { start(): void; stop(): void } {
  const client = useCairn()
  const store = useMemo(() => flowStore(client, flowKey), [client, flowKey])
  const state = useSyncExternalStore(store.subscribe, store.get, () => idle)
  return useMemo(
    () => ({ ...state, start: () => client.start(flowKey), stop: () => client.stop() }),
    [client, flowKey, state],
  )
}

const idle: FlowState = { isActive: false, step: null, progress: null }

/** In headless mode, the checklist to draw, with its actions: any checklist, or only the one with that key. */
export function useChecklist(flowKey?: string): ChecklistShown | null {
  const client = useCairn()
  const store = useMemo(() => checklistStore(client, flowKey), [client, flowKey])
  return useSyncExternalStore(store.subscribe, store.get, () => null)
}

/** In headless mode, the launcher to draw, with its actions: any launcher, or only the one with that key. */
export function useLauncher(flowKey?: string): LauncherShown | null {
  const client = useCairn()
  const store = useMemo(() => launcherStore(client, flowKey), [client, flowKey])
  return useSyncExternalStore(store.subscribe, store.get, () => null)
}

export type * from '@cairn/browser'
