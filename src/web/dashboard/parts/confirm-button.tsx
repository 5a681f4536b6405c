import { Confirm, type ConfirmProps } from './confirm.tsx'
import { Opener } from './opener.tsx'

/** A button that asks before it acts. */
export const ConfirmButton = ({
  label,
  name,
  ...confirm
}: Omit<ConfirmProps, 'onClose'> & {
  label: string
  /** Read aloud in place of the label, where several buttons have the same. */
  name?: string
}) => (
  <Opener
    look={confirm.isDanger ? 'danger' : 'plain'}
    label={label}
    {...(name !== undefined && { 'aria-label': name })}
  >
    {close => <Confirm {...confirm} onClose={close} />}
  </Opener>
)
