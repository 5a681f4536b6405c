import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'

/** Filters of a page, one beside the other. On a phone all but the first are behind a button. */
export function Filters({
  first,
  children,
}: {
  /** What a phone shows too. */
  first?: ComponentChildren
  children: ComponentChildren
}) {
  const isOpen = useSignal(false)
  return (
    <div class="filters row">
      {first}
      <Button
        class="on-phone"
        icon="settings"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        Filters
      </Button>
      <div class="more-filters" data-open={isOpen.value}>
        {children}
      </div>
    </div>
  )
}
