import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type Look = 'plain' | 'primary' | 'quiet' | 'danger'

/** A button that does something. While it works it says so, and takes no second press. */
export function Button({
  look = 'plain',
  icon,
  isBusy = false,
  children,
  class: more = '',
  ...rest
}: {
  look?: Look
  icon?: IconName
  isBusy?: boolean
  class?: string
  children?: ComponentChildren
} & Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'class'>) {
  return (
    <button
      type="button"
      {...rest}
      class={`button ${look} ${more}`}
      aria-busy={isBusy}
      disabled={rest.disabled || isBusy}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A link that looks like a button, because it leads on. */
export function LinkButton({
  look = 'plain',
  icon,
  href,
  download,
  isOutside = false,
  children,
}: {
  look?: Look
  icon?: IconName
  href: string
  /** The browser fetches it as a file, and the router keeps away. */
  download?: boolean
  /** Below the dashboard's path and yet none of its pages: the browser goes there itself. */
  isOutside?: boolean
  children?: ComponentChildren
}) {
  return (
    <a
      class={`button ${look}`}
      href={href}
      download={download}
      target={isOutside ? '_top' : undefined}
    >
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}
