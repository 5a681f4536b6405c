import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

/** The outcome of an action: read aloud, and shown until the next action. */
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
