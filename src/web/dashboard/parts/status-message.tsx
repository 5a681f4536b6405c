import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

/** What became of something that was done: said aloud, and there until something else is done. */
export const StatusMessage = ({ of }: { of: Signal<ComponentChildren> }) => (
  <div role="status">
    {of.value && (
      <div class="status-message">
        <Icon name="done" />
        <span>{of.value}</span>
      </div>
    )}
  </div>
)
