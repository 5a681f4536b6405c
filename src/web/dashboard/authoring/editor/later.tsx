import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { whilePending } from '../../api/pending.ts'
import { Skeleton } from '../../shell/states.tsx'

/** A component whose code is loaded when it is first shown. */
export function later<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | null>(null)
  const isLost = signal(false)
  return function Later(props: Props) {
    useEffect(() => {
      if (loaded.peek()) return
      isLost.value = false
      whilePending(load()).then(
        module => {
          loaded.value = module.default
        },
        () => {
          isLost.value = true
        },
      )
    }, [])
    const Loaded = loaded.value
    if (Loaded) return <Loaded {...props} />
    return isLost.value ? (
      <p class="problem">Not loaded. Reload the page.</p>
    ) : (
      <Skeleton lines={3} />
    )
  }
}
