import { type Signal, useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { Change } from '../../../../core/flow/edit/change.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import type { FlowFormProps } from '../editor/parts.ts'
import { writtenDefaults } from './fields.ts'
import { changed, changeFor, type Form, flowIn } from './form-context.ts'
import { byPlace, pointerOf } from './problems.ts'

/** What was done, and how to undo it. */
export interface Done {
  text: string
  undo?: () => void
}

/** The flow being edited, and the ways to change its text. */
export interface Editing {
  form: Form
  /** What was done last. */
  said: Signal<Done | null>
  /** The current text, even if it has not been drawn yet. */
  textNow: () => string
  take: (text: string) => void
}

/** The form's view of a text; null if the form cannot show it. */
export function useEditing({ text, problems, isLocked, onChange }: FlowFormProps): Editing | null {
  const said = useSignal<Done | null>(null)
  const latest = useRef(text)
  latest.current = text
  const flow = useMemo(() => flowIn(text), [text])
  const places = useMemo(() => byPlace(problems), [problems])
  const written = useRef<ReadonlySet<string> | null>(null)
  if (flow === null) return null
  written.current ??= writtenDefaults(flow)
  const take = (next: string) => {
    if (next === latest.current) return
    latest.current = next
    onChange(next)
  }
  const apply = (...changes: Change[]): boolean => {
    if (isLocked) return false
    const next = changed(latest.current, changes)
    if (next === null) said.value = { text: words.refused }
    else {
      said.value = null
      take(next)
    }
    return next !== null
  }
  const form: Form = {
    flow,
    isLocked,
    problems,
    problemsAt: path => places.get(pointerOf(path)) ?? [],
    apply,
    write: (path, value, ...more) =>
      apply(changeFor(flowIn(latest.current) ?? flow, path, value, written.current!), ...more),
  }
  return { form, said, textNow: () => latest.current, take }
}
