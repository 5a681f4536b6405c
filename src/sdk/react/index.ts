import {
  type CairnClient,
  type CairnOptions,
  type ChecklistShown,
  checklistStore,
  createCairn,
  type FlowState,
  flowStore,
  type Identity,
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
  /** Where Cairn is; taken once, when it is first drawn. */
  options: CairnOptions
  /** Who is there; null for nobody, which after somebody is their logging out. Absent: you say it yourself. */
  user?: Identity | null
  children?: ReactNode
}

/** Gives what is in it Cairn. It loads its script in the browser alone, once a page. */
export function CairnProvider({ options, user, children }: CairnProviderProps): ReactNode {
  const [client] = useState(() => createCairn(options))
  const said = user === undefined ? undefined : JSON.stringify(user)
  const before = useRef<string>(undefined)
  useEffect(() => {
    if (said === undefined || said === before.current) return
    const wasSomebody = before.current !== undefined && before.current !== 'null'
    before.current = said
    const next: Identity | null = JSON.parse(said)
    if (next) client.identify(next.userId, next.traits, next.userHash)
    else if (wasSomebody) client.reset()
  }, [client, said])
  return createElement(Context.Provider, { value: client }, children)
}

/** All that a page can say and ask. */
export function useCairn(): CairnClient {
  const client = useContext(Context)
  if (!client) throw new Error('useCairn() needs a <CairnProvider> around it')
  return client
}

/** How a flow stands, and what begins and ends it. */
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

/** In headless mode, the checklist that is to be drawn, with what can be done: any, or the one by its key. */
export function useChecklist(flowKey?: string): ChecklistShown | null {
  const client = useCairn()
  const store = useMemo(() => checklistStore(client, flowKey), [client, flowKey])
  return useSyncExternalStore(store.subscribe, store.get, () => null)
}

export type * from '@cairn/browser'
