import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'

const shown = signal<ComponentChildren>(null)

/** Says what an action did: read aloud, and shown until the next action or the next page. */
export const say = (message: ComponentChildren) => {
  shown.value = message
}

/** Where messages are shown, on every page. */
export const Toast = () => (
  <div role="status">
    {shown.value && (
      <div class="toast banner good">
        <Icon name="done" />
        <span>{shown.value}</span>
        <IconButton icon="close" label="Dismiss" onClick={() => say(null)} />
      </div>
    )}
  </div>
)
