import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button, type ButtonProps } from './button.tsx'

/** A button that opens a dialog, which is told how to close itself. */
export function Opener({
  label,
  isOpenAtFirst = false,
  children,
  ...button
}: Omit<ButtonProps, 'children' | 'onClick'> & {
  label: string
  isOpenAtFirst?: boolean
  children: (close: () => void) => ComponentChildren
}) {
  const isOpen = useSignal(isOpenAtFirst)
  return (
    <>
      <Button {...button} onClick={() => (isOpen.value = true)}>
        {label}
      </Button>
      {isOpen.value && children(() => (isOpen.value = false))}
    </>
  )
}
