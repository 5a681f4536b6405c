import type { ComponentChildren } from 'preact'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

/** One word about the state of something. The tone only emphasises it. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  tone?: Tone
  children: ComponentChildren
}) {
  return <span class={`badge ${tone}`}>{children}</span>
}
