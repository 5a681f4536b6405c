import type { ComponentChildren } from 'preact'
import { Icon } from '../parts/icon.tsx'
import { installationWords as words } from '../words/installation.ts'

export interface Step {
  title: string
  isDone: boolean
  /** Shown until it is done. */
  how: ComponentChildren
  /** Shown once it is done. */
  since?: ComponentChildren
}

/** Steps that tick themselves as they happen. */
export const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <ol class="first-steps">
    {steps.map(({ title, isDone, how, since }, i) => (
      <li key={title} class={isDone ? 'done' : undefined}>
        <span class="step-number">{isDone ? <Icon name="done" size={14} /> : i + 1}</span>
        <div class="step-body">
          <h3>
            {title} <span class="unseen">({isDone ? words.done : words.open})</span>
          </h3>
          {isDone ? since : how}
        </div>
      </li>
    ))}
  </ol>
)
