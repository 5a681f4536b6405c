import { Check, Choice } from '../../parts/choice.tsx'
import { Select } from '../../parts/select.tsx'
import { defaultOf, optionsOf, textOf } from './flow-json.ts'
import { Problems } from './problems.tsx'
import type { ControlProps } from './table.ts'

/** Controls for what the schema has words for. */

const chosenOf = ({ field, value, path, part, flow }: ControlProps) =>
  textOf(value ?? field.chosen?.(part, flow) ?? defaultOf(path))

export function OneOf(props: ControlProps) {
  const { frame, field, path, write } = props
  const chosen = chosenOf(props)
  return (
    <Select
      {...frame}
      value={chosen}
      options={optionsOf(path).map(([word]) => [word, field.names?.[word] ?? word])}
      none={field.none ?? (chosen === '' ? '' : undefined)}
      onChange={word => write(word || undefined)}
    />
  )
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** A few things side by side, each with what it means. */
export function Cards(props: ControlProps) {
  const { frame, field, path, write } = props
  const chosen = chosenOf(props)
  return (
    <Choice
      {...frame}
      look="cards"
      value={chosen}
      options={optionsOf(path)
        .filter(([word]) => field.names?.[word] || word === chosen)
        .map(([word, means]) => [word, field.names?.[word] ?? word, sentence(means)])}
      onChange={write}
    />
  )
}

/** Yes or no. A field without a default counts as no if the flow does not set it. */
export const YesOrNo = ({ frame, path, value, write, problems }: ControlProps) => (
  <div class="field">
    <Check
      label={frame.label}
      note={frame.help}
      checked={(value ?? defaultOf(path) ?? false) === true}
      onChange={is => write(is || defaultOf(path) !== undefined ? is : undefined)}
    />
    <Problems of={problems} />
  </div>
)
