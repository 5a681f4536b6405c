import { type Applied, applied, type ProposedChange } from '../../../../core/flow/edit/proposed.ts'
import { StepDefinition } from '../../../../core/flow/flow.ts'
import { minimalOf } from '../../../../core/flow/minimal.ts'
import { isMapping, isSame, type Mapping, valueAt } from '../../../../core/flow/plain.ts'
import { withValue } from '../form/flow-json.ts'

/** Changes that a page has proposed, applied to the flow that the author edits. */

/** A change that was applied, and the way back. */
export interface Done extends Pick<Applied, 'undo'> {
  number: number
  /** When it was proposed, epoch milliseconds. */
  at: number
  change: ProposedChange
  /** What it did, in words. */
  text: string
}

const fieldNames = {
  title: 'Title',
  body: 'Text',
  kind: 'Type',
  placement: 'Side',
  buttons: 'Buttons',
  question: 'Question',
  media: 'Image',
  advance: 'How to continue',
} as const

/** The title of a step, in quotes. */
function nameOf(flow: Mapping, key: string): string {
  const steps = valueAt(flow, ['steps'])
  const list = Array.isArray(steps) ? steps : []
  const place = list.findIndex(step => isMapping(step) && step.key === key)
  const title = valueAt(list[place], ['title'])
  return `“${typeof title === 'string' && title.trim() ? title.trim() : `Untitled ${place + 1}`}”`
}

function textOf(before: Mapping, after: Mapping, change: ProposedChange): string {
  switch (change.do) {
    case 'set':
      return `${fieldNames[change.field]} of ${nameOf(after, change.step)} changed`
    case 'target':
      return `Element of ${nameOf(after, change.step)} ${change.target ? 'chosen' : 'removed'}`
    case 'add':
      return `${nameOf(after, change.step.key)} added`
    case 'move':
      return `${nameOf(after, change.step)} moved`
    case 'delete':
      return `${nameOf(before, change.step)} deleted`
    case 'undo':
      return 'Undone'
  }
}

/** The value as briefly as an author would have written it, which is how the form has it. */
function asWritten(change: ProposedChange): ProposedChange {
  if (change.do !== 'set' || change.value === null) return change
  const schema = StepDefinition.properties[change.field]
  const isDefault = isSame(change.value, schema.default)
  return { ...change, value: isDefault ? null : minimalOf(schema, change.value) }
}

/** How soon after each other two texts of a field have to be typed to be one change, milliseconds. */
const togetherMs = 3_000

const isSameField = (a: ProposedChange, b: ProposedChange) =>
  a.do === 'set' && b.do === 'set' && a.step === b.step && a.field === b.field

/** The changes that a page can undo, the last one at the end. */
export type History = readonly Done[]

/** A flow and its history after a change. The same flow if the change changes nothing. */
export function withChange(
  flow: Mapping,
  history: History,
  { number, at, change }: Pick<Done, 'number' | 'at' | 'change'>,
): { flow: Mapping; history: History } {
  if (change.do === 'undo') return undone(flow, history)
  const made = applied(flow, asWritten(change) as Exclude<ProposedChange, { do: 'undo' }>)
  if (!made) return { flow, history }
  const next = trimmed(made.flow)
  const last = history.at(-1)
  const goesOn = last && isSameField(last.change, change) && at - last.at < togetherMs
  const done = { number, at, change, text: textOf(flow, next, change), undo: made.undo }
  return {
    flow: next,
    history: goesOn ? history.with(-1, { ...done, undo: last.undo }) : [...history, done],
  }
}

/** A flow without its last change. */
export function undone(flow: Mapping, history: History): { flow: Mapping; history: History } {
  const last = history.at(-1)
  return last
    ? { flow: trimmed(last.undo(flow)), history: history.slice(0, -1) }
    : { flow, history }
}

/** A list without entries is not written. */
const trimmed = (flow: Mapping): Mapping =>
  Array.isArray(flow.steps) && flow.steps.length === 0
    ? (withValue(flow, ['steps'], undefined) as Mapping)
    : flow
