import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type Change, change } from '../../../../core/flow/edit/change.ts'
import {
  isMapping,
  isSame,
  type Path,
  parseSource,
  valueAt,
} from '../../../../core/flow/edit/source.ts'
import type { Plain } from '../../../../core/flow/minimal.ts'
import type { FlowProblem } from '../editor/parts.ts'
import { defaultOf, identityOf, isRequired, orderOf } from './fields.ts'

/** A flow as the parts of the form see it: its values, and the ways to change them. */
export interface Form {
  flow: { [name: string]: Plain }
  isLocked: boolean
  problems: readonly FlowProblem[]
  /** The problems shown at a field, or at something around it. */
  problemsAt(path: Path): readonly FlowProblem[]
  /** Makes all of these changes or, if one is impossible, none, and says so. */
  apply(...changes: Change[]): boolean
  /**
   * Writes a field's new value, and the changes that follow from it. A value that is the default, empty
   * or undefined is taken out of the file.
   */
  write(path: Path, value: Plain | undefined, ...more: Change[]): boolean
}

export const FormContext = createContext<Form | null>(null)

export const useForm = (): Form => useContext(FormContext)!

/** The value of a field as the file has it, and how to change it. */
export function useFormField(path: Path) {
  const { flow, write, problemsAt } = useForm()
  return {
    value: valueAt(flow, path),
    problems: problemsAt(path),
    write: (value: Plain | undefined, ...more: Change[]) => write(path, value, ...more),
  }
}

/** The text after all changes, one after another; null if one is impossible. */
export function changed(text: string, changes: readonly Change[]): string | null {
  return changes.reduce<string | null>(
    (at, requested) => (at === null ? null : change(at, requested)),
    text,
  )
}

/**
 * The change to the text for a field's new value. A default is taken out of the file rather than
 * written, unless the author had written it out.
 *
 * @param written see `writtenDefaults`
 */
export function changeFor(
  flow: Plain,
  path: Path,
  value: Plain | undefined,
  written: ReadonlySet<string>,
): Change {
  const isEmpty = value === undefined || (value === '' && !isRequired(path))
  const byDefault = defaultOf(path)
  const isDefault = byDefault !== undefined && isSame(value, byDefault)
  if (isEmpty || (isDefault && !written.has(identityOf(flow, path)))) return { kind: 'unset', path }
  // The file may lack some of the mappings around the field, or have null in their place.
  let depth = path.length - 1
  while (depth > 0 && !isMapping(valueAt(flow, path.slice(0, depth)))) depth--
  const order = orderOf(path.slice(0, depth))
  const outer = path.slice(0, depth + 1)
  if (outer.length === path.length || valueAt(flow, outer) !== null) {
    return { kind: 'set', path, value, order }
  }
  const whole = path
    .slice(depth + 1)
    .reduceRight<Plain>((inner, name) => ({ [name]: inner }), value)
  return { kind: 'set', path: outer, value: whole, order }
}

/** The flow in a text, or null if the form cannot show it. */
export function flowIn(text: string): { [name: string]: Plain } | null {
  const read = parseSource(text)
  if ('reason' in read) return null
  if (read.value === null) return {}
  return isMapping(read.value) && !('flows' in read.value) ? read.value : null
}
