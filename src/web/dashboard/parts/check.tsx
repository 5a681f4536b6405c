import type { ComponentChildren } from 'preact'

/** A choice that is on or off, and a note about what it means. */
export const Check = ({
  label,
  note,
  checked,
  onChange,
}: {
  label: string
  note?: ComponentChildren
  checked: boolean
  onChange: (checked: boolean) => void
}) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      onChange={event => onChange(event.currentTarget.checked)}
    />
    <span>
      {label}
      {note && <small>{note}</small>}
    </span>
  </label>
)
