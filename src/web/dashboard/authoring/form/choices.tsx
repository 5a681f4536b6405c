import { useId } from 'preact/hooks'
import { defaultOf, optionsOf, textOf } from './flow-json.ts'
import { pointerOf, problemsUnder, useForm } from './form.ts'
import { GroupFrame, Problems } from './frame.tsx'
import type { ControlProps } from './table.ts'

/** Choices that show what each of them means. */

/** Yes or no. A field without a default counts as no if the flow does not set it. */
export function Check({ field, path, value, write }: ControlProps) {
  const id = useId()
  const problems = problemsUnder(useForm().problems, path)
  return (
    <div class="field" data-path={pointerOf(path)}>
      <label class="check">
        <input
          type="checkbox"
          aria-describedby={`${id}-problems`}
          checked={(value ?? defaultOf(path) ?? false) === true}
          onChange={event => write(event.currentTarget.checked)}
        />
        <span>
          {field.label}
          {field.help && <small>{field.help}</small>}
        </span>
      </label>
      <Problems of={problems} id={`${id}-problems`} />
    </div>
  )
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** A few things side by side, each with what it means. */
export function Cards({ field, path, value, write, part, flow }: ControlProps) {
  const name = useId()
  const problems = problemsUnder(useForm().problems, path)
  const said = textOf(value ?? field.chosen?.(part, flow) ?? defaultOf(path))
  const options = optionsOf(path).filter(([word]) => field.names?.[word] || word === said)
  return (
    <GroupFrame label={field.label} help={field.help} path={path} problems={problems}>
      <div class="option-cards">
        {options.map(([word, means]) => (
          <label key={word} class="option-card">
            <input type="radio" name={name} checked={word === said} onChange={() => write(word)} />
            <span>
              {field.names?.[word] ?? word}
              <small>{sentence(means)}</small>
            </span>
          </label>
        ))}
      </div>
    </GroupFrame>
  )
}
