import type { ComponentChildren } from 'preact'
import { Tip } from './tip.tsx'

/** A number under its name, with an explanation below. It stands in a `dl` with the class `figures`. */
export const Figure = ({
  name,
  means,
  below,
  children,
}: {
  name: string
  means?: string
  below?: ComponentChildren
  children: ComponentChildren
}) => (
  <div class="figure">
    <dt class="hint">
      <Tip text={means}>{name}</Tip>
    </dt>
    <dd class="figure-value number">{children}</dd>
    <dd class="soft number">{below}</dd>
  </div>
)
