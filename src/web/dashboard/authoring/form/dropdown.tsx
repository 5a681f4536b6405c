type Options<Value extends string> = readonly (readonly [value: Value, name: string])[]

/** One of several things, chosen from a list. A value that is none of them is shown as it is. */
export function Dropdown<Value extends string>({
  value,
  options,
  groups = [],
  none,
  onChoose,
  ...wiring
}: {
  id?: string
  'aria-label'?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean
  value: string
  options: Options<Value>
  groups?: readonly (readonly [name: string, options: Options<Value>])[]
  /** The name for choosing none, if that is possible too. */
  none?: string | undefined
  onChoose: (value: Value) => void
}) {
  const all = [...options, ...groups.flatMap(([, of]) => of)]
  const isKnown = value === '' || all.some(([one]) => one === value)
  const listed = (of: Options<Value>) =>
    of.map(([one, name]) => (
      <option key={one} value={one}>
        {name}
      </option>
    ))
  return (
    <select
      {...wiring}
      class="input select"
      value={value}
      onChange={event => onChoose(event.currentTarget.value as Value)}
    >
      {none !== undefined && <option value="">{none}</option>}
      {!isKnown && <option value={value}>{value}</option>}
      {listed(options)}
      {groups.map(([name, of]) => (
        <optgroup key={name} label={name}>
          {listed(of)}
        </optgroup>
      ))}
    </select>
  )
}
