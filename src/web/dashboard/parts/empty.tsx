import type { ComponentChildren } from 'preact'

/** What a page or a part of it shows if there is nothing yet: a sentence, and the one thing to do. */
export const Empty = ({
  title,
  children,
  action,
}: {
  title: string
  children?: ComponentChildren
  action?: ComponentChildren
}) => (
  <div class="empty">
    <strong>{title}</strong>
    {children && <p>{children}</p>}
    {action}
  </div>
)
