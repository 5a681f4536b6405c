import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { Code } from './code.tsx'

/** A new secret, which is shown only now. */
export const ShownOnce = ({
  title,
  name,
  secret,
  hint,
  onDone,
}: {
  title: string
  /** What the copied text is, read aloud. */
  name: string
  secret: string
  hint: ComponentChildren
  onDone: () => void
}) => (
  <div class="shown-once">
    <h3>{title}</h3>
    <Code name={name}>{secret}</Code>
    <p class="hint">{hint}</p>
    <Button onClick={onDone}>Done</Button>
  </div>
)
