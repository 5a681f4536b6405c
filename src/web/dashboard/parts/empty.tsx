import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

/** What a page or a part of it shows if there is nothing yet: a sentence, and the one thing to do. */
export const Empty = ({
  title,
  icon = 'info',
  children,
  action,
}: {
  title: string
  icon?: IconName
  children?: ComponentChildren
  action?: ComponentChildren
}) => (
  <div class="notice">
    <Icon name={icon} size={20} />
    <strong>{title}</strong>
    {children && <p class="notice-text soft">{children}</p>}
    {action && <div class="actions">{action}</div>}
  </div>
)
