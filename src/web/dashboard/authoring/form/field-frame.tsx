import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { stringify } from 'yaml'
import type { Plain } from '../../../../core/flow/minimal.ts'
import { Icon } from '../../parts/icon.tsx'
import { flowFormWords as words } from '../../words/flow-form.ts'
import type { FlowProblem } from '../editor/parts.ts'

/** The problems at a place, the worst first. */
export function Problems({ of, id }: { of: readonly FlowProblem[]; id?: string }) {
  if (of.length === 0) return null
  const sorted = of.toSorted(
    (a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'),
  )
  return (
    <ul id={id} class="field-problems">
      {sorted.map(({ severity, code, path, message }) => (
        <li key={`${path} ${code} ${message}`} class={severity}>
          <Icon name="warning" size={14} />
          <span>
            <span class="unseen">{words[severity]}: </span>
            {message}
          </span>
        </li>
      ))}
    </ul>
  )
}

interface Wiring {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

/** A field with its label above, and its problems and its purpose below. */
export function FieldFrame({
  label,
  hint,
  problems,
  isLabelUnseen = false,
  children,
}: {
  label: ComponentChildren
  hint?: ComponentChildren
  problems: readonly FlowProblem[]
  isLabelUnseen?: boolean
  children: (wiring: Wiring) => JSX.Element
}) {
  const id = useId()
  const described = [hint && `${id}-hint`, problems.length > 0 && `${id}-problems`].filter(Boolean)
  return (
    <div class="field">
      <label for={id} class={isLabelUnseen ? 'unseen' : ''}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described.join(' ') || undefined,
        'aria-invalid': problems.some(({ severity }) => severity === 'error'),
      })}
      <Problems of={problems} id={`${id}-problems`} />
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  )
}

/** The same frame for several things to choose one from. */
export function GroupFrame({
  label,
  hint,
  problems,
  children,
}: {
  label: string
  hint?: ComponentChildren
  problems: readonly FlowProblem[]
  children: ComponentChildren
}) {
  const id = useId()
  return (
    <fieldset class="field" aria-describedby={`${id}-hint ${id}-problems`}>
      <legend>{label}</legend>
      {children}
      <Problems of={problems} id={`${id}-problems`} />
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </fieldset>
  )
}

/** One of several things, chosen from a list. A value that is none of them is shown as it is. */
export function SelectField<Value extends string>({
  value,
  options,
  none,
  onChoose,
  ...frame
}: Omit<Parameters<typeof FieldFrame>[0], 'children'> & {
  value: string
  options: readonly (readonly [value: Value, name: string])[]
  /** The name for choosing none, if that is possible too. */
  none?: string
  onChoose: (value: Value) => void
}) {
  const isKnown = value === '' || options.some(([one]) => one === value)
  return (
    <FieldFrame {...frame}>
      {wiring => (
        <select
          {...wiring}
          class="input select"
          value={value}
          onChange={event => onChoose(event.currentTarget.value as Value)}
        >
          {none !== undefined && <option value="">{none}</option>}
          {!isKnown && <option value={value}>{value}</option>}
          {options.map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  )
}

/** A value that no field can show, as it is in the file. */
export const KeptValue = ({ label, value, why }: { label: string; value: Plain; why?: string }) => (
  <div class="field">
    <p class="field-name">{label}</p>
    <pre class="kept">
      <code>{stringify(value, { lineWidth: 0 }).trimEnd()}</code>
    </pre>
    <p class="hint">{why ?? words.kept.yaml}</p>
  </div>
)
