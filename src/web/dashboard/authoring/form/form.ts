import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { FileProblem } from '../../../../core/flow/file.ts'
import type { Mapping, Path } from '../../../../core/flow/plain.ts'

/** What is wrong with a flow, and where. `path` is a JSON pointer into it. */
export type FlowProblem = FileProblem

/** A flow as the parts of a form see it. */
export interface Form {
  flow: Mapping
  isLocked: boolean
  /** Whether nothing is saved yet, so that the key can still be chosen. */
  isNew: boolean
  /** Those that are shown: a field that nobody has left yet has none. */
  problems: readonly FlowProblem[]
  change(make: (flow: Mapping) => Mapping): void
}

export const FormContext = createContext<Form | null>(null)

export const useForm = (): Form => useContext(FormContext)!

export const pointerOf = (path: Path): string => path.map(name => `/${name}`).join('')

/** Whether a pointer leads to a place, or into it. */
export const isUnder = (pointer: string, place: string): boolean =>
  pointer === place || pointer.startsWith(`${place}/`)

export const problemsUnder = (problems: readonly FlowProblem[], path: Path): FlowProblem[] =>
  problems.filter(problem => isUnder(problem.path, pointerOf(path)))
