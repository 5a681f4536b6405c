import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type Look = 'plain' | 'primary' | 'quiet' | 'danger'

export interface ButtonProps
  extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'class'> {
  look?: Look
  icon?: IconName
  isBusy?: boolean
  class?: string
  children?: ComponentChildren
}

/** A button that does something. While it is busy it says so, and ignores a second press. */
export function Button({
  look = 'plain',
  icon,
  isBusy = false,
  children,
  class: more = '',
  ...rest
}: ButtonProps) {
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

/** A button with nothing but an icon. Its label is read aloud, and shown to anybody who points at it. */
export const IconButton = ({ label, ...button }: ButtonProps & { label: string }) => (
  <Button look="quiet" class="square" aria-label={label} title={label} {...button} />
)

/** A link that looks like a button, because it leads to the next thing to do. */
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
  /** Whether the browser downloads it as a file, which the router leaves alone. */
  download?: boolean
  /** Whether it is below the dashboard's path but not one of its pages, so that the browser itself goes there. */
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
