import { useId } from 'preact/hooks'

/** A few things of which one is chosen, with what they are beside them. */
export function Choice({
  label,
  value,
  options,
  onChoose,
  isSelfEvident = false,
}: {
  label: string
  value: string
  options: readonly (readonly [string, string])[]
  onChoose: (value: string) => void
  /** Whether its options say what it is; then its label is read aloud alone. */
  isSelfEvident?: boolean
}) {
  const id = useId()
  return (
    <span class="choice">
      <label for={id} class={isSelfEvident ? 'unseen' : ''}>
        {label}
      </label>
      <select
        id={id}
        class="input select"
        value={value}
        onChange={event => onChoose(event.currentTarget.value)}
      >
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </span>
  )
}
