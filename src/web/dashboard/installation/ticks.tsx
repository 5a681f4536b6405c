import type { ComponentChildren } from 'preact'
import { Icon } from '../parts/icon.tsx'

export interface Tick {
  title: string
  isDone: boolean
  /** Shown until it is done. */
  how: ComponentChildren
  /** Shown once it is done. */
  since?: ComponentChildren
}

/** Steps that tick themselves as they happen. */
export const Ticks = ({ ticks }: { ticks: readonly Tick[] }) => (
  <ol class="first-steps framed entries">
    {ticks.map(({ title, isDone, how, since }, i) => (
      <li key={title} class={isDone ? 'done' : undefined}>
        <span class="step-number soft">{isDone ? <Icon name="done" size={14} /> : i + 1}</span>
        <div class="stack gap-1 grow">
          <h3>
            {title} <span class="unseen">({isDone ? 'done' : 'to do'})</span>
          </h3>
          {isDone ? since : how}
        </div>
      </li>
    ))}
  </ol>
)
