import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { whilePending } from '../api/pending.ts'

type Loaded = Promise<{ default: ComponentType }>

/** A part of the page whose code is loaded when somebody first needs it. */
export function Lazy({ load }: { load: () => Loaded }) {
  const loaded = useSignal<ComponentType | null>(null)
  useEffect(() => {
    // If it cannot be loaded, the page says so as soon as it is left.
    whilePending(load()).then(
      module => (loaded.value = module.default),
      () => {},
    )
  }, [load])
  const Part = loaded.value
  return Part && <Part />
}
