import type { ComponentChildren } from 'preact'

/** A part of a page under its heading. */
export const Part = ({
  id,
  title,
  beside,
  children,
}: {
  /** Given if the heading also names the part for those who cannot see it. */
  id?: string
  title: ComponentChildren
  beside?: ComponentChildren
  children?: ComponentChildren
}) => (
  <section class="part" aria-labelledby={id}>
    <div class="part-head">
      <h2 id={id}>{title}</h2>
      {beside}
    </div>
    {children}
  </section>
)
