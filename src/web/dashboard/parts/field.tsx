import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { anchored } from './place.ts'

/**
 * The family of fields. All take the props of `Field`, a `value` and `onChange(value)`:
 *
 * - `TextField`, `TextArea`: text (`text-field.tsx`).
 * - `NumberField`: a number with its unit (`number-field.tsx`); `DateField`: a day, with a time if wanted.
 * - `Select`: one of a list (`select.tsx`); `Combobox`: one of a long list, found by typing
 *   (`combobox.tsx`), with `ZoneField` and `LanguageField` (`pickers.tsx`).
 * - `Choice`: one of a few, with what each means; `Segments`: one of a few words, side by side;
 *   `Check` and `Switch`: yes or no (`choice.tsx`).
 * - `Field` itself puts its label, hint, help and problem around any other control.
 */

/** What is wrong with the value of a field. A warning leaves it usable. */
export interface FieldProblem {
  severity: 'error' | 'warning'
  message: string
}

export interface FieldProps {
  label: string
  /** Whether the label is only read aloud, because everything around the field says it. */
  isLabelUnseen?: boolean
  /** Whether the label is beside the field: for filters above a page. */
  isInline?: boolean
  /** Marks a field that may stay empty, where most may not. */
  isOptional?: boolean
  /** One short line below the field. */
  hint?: ComponentChildren
  /** More about the field, shown when somebody asks for it. */
  help?: ComponentChildren
  /** Shown once the field was left or the form was sent, so that nobody is corrected while typing. */
  problem?: string | readonly FieldProblem[] | undefined
  /** Whether the problem is shown at once, because the value was there before. */
  isProblemOld?: boolean
}

/** What connects a control with its label and everything said about it. */
export interface Wiring {
  id: string
  'aria-describedby': string
  'aria-invalid': boolean
}

/** The props of the frame, and all others. */
export function frameOf<Props extends FieldProps>(props: Props) {
  const { label, isLabelUnseen, isInline, isOptional, hint, help, problem, isProblemOld, ...rest } =
    props
  return {
    frame: { label, isLabelUnseen, isInline, isOptional, hint, help, problem, isProblemOld },
    rest,
  }
}

function Help({ label, id, children }: { label: string; id: string; children: ComponentChildren }) {
  return (
    <>
      <button type="button" class="help-button" popovertarget={id} aria-label={`Help: ${label}`}>
        <Icon name="info" size={14} />
      </button>
      <div id={id} popover="auto" class="help-panel" {...anchored()}>
        {children}
      </div>
    </>
  )
}

const listOf = (problem: FieldProps['problem']): readonly FieldProblem[] =>
  typeof problem === 'string' ? [{ severity: 'error', message: problem }] : (problem ?? [])

/** A control with its label, a hint, help and what is wrong with its value. */
export function Field({
  label,
  isLabelUnseen = false,
  isInline = false,
  isOptional = false,
  hint,
  help,
  problem,
  isProblemOld = false,
  isGroup = false,
  children,
}: FieldProps & {
  /** Whether it has several controls, such as a group of radio buttons. */
  isGroup?: boolean
  children: (wiring: Wiring) => JSX.Element
}) {
  const id = useId()
  const box = useRef<HTMLElement>(null)
  const wasLeft = useSignal(false)
  useEffect(() => {
    const form = box.current?.closest('form')
    const leave = () => (wasLeft.value = true)
    form?.addEventListener('submit', leave)
    return () => form?.removeEventListener('submit', leave)
  }, [])
  const problems = wasLeft.value || isProblemOld ? listOf(problem) : []
  const Box = isGroup ? 'fieldset' : 'div'
  const Label = isGroup ? 'legend' : 'label'
  return (
    <Box
      ref={box as never}
      class={`field ${isInline ? 'inline' : ''}`}
      {...(isGroup && {
        // The legend is no child of the fieldset, so it does not name it by itself.
        'aria-labelledby': `${id}-label`,
        'aria-describedby': `${id}-hint ${id}-problem`,
      })}
      onFocusOut={event => {
        if (!box.current?.contains(event.relatedTarget as Node | null)) wasLeft.value = true
      }}
    >
      <div class={isLabelUnseen ? 'unseen' : 'field-label'}>
        <Label {...(isGroup ? { id: `${id}-label` } : { for: id })}>{label}</Label>
        {isOptional && <small>optional</small>}
        {help && (
          <Help label={label} id={`${id}-help`}>
            {help}
          </Help>
        )}
      </div>
      {children({
        id,
        'aria-describedby': `${id}-hint ${id}-problem`,
        'aria-invalid': problems.some(({ severity }) => severity === 'error'),
      })}
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
      <div id={`${id}-problem`} class="field-problems stack gap-1 break" role="alert">
        {problems.map(({ severity, message }) => (
          <p key={message} class={severity}>
            {message}
          </p>
        ))}
      </div>
    </Box>
  )
}
