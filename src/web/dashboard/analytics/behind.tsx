import type { ComponentChildren } from 'preact'

/** A number that opens the runs behind it. Nothing is behind a zero. */
export const Behind = ({
  count,
  href,
  children,
}: {
  count: number
  href: string
  children: ComponentChildren
}) =>
  count === 0 ? (
    <span class="zero">{children}</span>
  ) : (
    <a class="behind" href={href}>
      {children}
    </a>
  )
