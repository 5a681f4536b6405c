import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Path } from '../../../../core/flow/plain.ts'
import { Icon } from '../../parts/icon.tsx'
import { type FlowProblem, pointerOf } from './form.ts'

/** Problems at a place, the worst first. */
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
            <span class="unseen">{severity === 'error' ? 'Error' : 'Warning'}: </span>
            {message}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** A sentence about a field, for whoever presses the sign beside its label or hears its description. */
function Help({ id, children }: { id: string; children: string }) {
  return (
    <>
      <button
        type="button"
        class="help"
        tabIndex={-1}
        aria-hidden="true"
        title={children}
        popovertarget={id}
      >
        <Icon name="info" size={14} />
      </button>
      <span id={id} popover="auto" class="tip help-text">
        {children}
      </span>
    </>
  )
}

export interface Wiring {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

interface FrameProps {
  label: string
  help?: string | undefined
  hint?: ComponentChildren
  path: Path
  problems: readonly FlowProblem[]
}

/** A field with its label above, and its problems below. */
export function Frame({
  label,
  help,
  hint,
  path,
  problems,
  isLabelUnseen = false,
  children,
}: FrameProps & { isLabelUnseen?: boolean; children: (wiring: Wiring) => JSX.Element }) {
  const id = useId()
  const described = [
    help && `${id}-help`,
    hint && `${id}-hint`,
    problems.length > 0 && `${id}-problems`,
  ].filter(Boolean)
  return (
    <div class="field" data-path={pointerOf(path)}>
      <div class={isLabelUnseen ? 'unseen' : 'field-label'}>
        <label for={id}>{label}</label>
        {help && <Help id={`${id}-help`}>{help}</Help>}
      </div>
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

/** The same for several controls that belong together. */
export function GroupFrame({
  label,
  help,
  hint,
  path,
  problems,
  children,
}: FrameProps & { children: ComponentChildren }) {
  const id = useId()
  return (
    <fieldset
      class="field"
      data-path={pointerOf(path)}
      aria-describedby={help ? `${id}-help ${id}-problems` : `${id}-problems`}
    >
      <legend class="field-label">
        {label}
        {help && <Help id={`${id}-help`}>{help}</Help>}
      </legend>
      {children}
      <Problems of={problems} id={`${id}-problems`} />
      {hint && <p class="hint">{hint}</p>}
    </fieldset>
  )
}
