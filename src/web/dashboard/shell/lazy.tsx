import { useSignal } from '@preact/signals'
import type { ComponentType, FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { whilePending } from '../api/pending.ts'

/** A part of a page whose code is loaded when the part is first drawn. */
export function lazy<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): FunctionComponent<Props> {
  return props => {
    const loaded = useSignal<ComponentType<Props> | null>(null)
    useEffect(() => {
      // If it cannot be loaded, Cairn was upgraded, which the next page says.
      whilePending(load()).then(
        module => {
          loaded.value = module.default
        },
        () => {},
      )
    }, [])
    const Part = loaded.value
    return Part && <Part {...props} />
  }
}
