import type { ComponentType } from 'preact'
import type { FileProblem } from '../../../../core/flow/file.ts'
import type { Flow } from '../../../../core/flow/flow.ts'
import type { MaybeTheme } from '../../../../core/flow/merged-theme.ts'
import type { PickProps } from '../pick/picking.tsx'

/** What is wrong with the text, and where. `path` is a JSON pointer into the file. */
export type FlowProblem = FileProblem

/**
 * The form. The YAML text is the only source of truth: the form reads it and returns a new text, which
 * keeps comments and order. `part` is the key of the step or item that is shown.
 */
export interface FlowFormProps {
  text: string
  problems: readonly FlowProblem[]
  isLocked: boolean
  part: string | null
  onPart(key: string | null): void
  onChange(text: string): void
  pick: ComponentType<PickProps> | null
  /** Whether nothing has been saved yet, so that the key can still be chosen. */
  isNew?: boolean
}

/** The preview. `flow` is what `GET /api/v1/flows/{id}` returns, or null while the text has errors. */
export interface FlowPreviewProps {
  flow: Flow | null
  part: string | null
  onPart(key: string | null): void
  /** The organisation's theme; if left out, the one that is set. */
  theme?: MaybeTheme
}
