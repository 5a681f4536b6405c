import { useId } from 'preact/hooks'

/** A few things to choose one from, with their label beside them. */
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
  /** Whether the options explain themselves. Then the label is only read aloud. */
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
