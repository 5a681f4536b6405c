import type { StepDefinition } from '../../../core/flow/flow.ts'
import type { DraftAnswer, VersionAnswer } from '../../../modules/authoring/schema.ts'

export type { DraftAnswer, VersionAnswer }

/** The parts of a written flow that pages read. */
export interface Written {
  steps: readonly {
    key: string
    title: string
    when?: StepDefinition['when']
    question?: StepDefinition['question']
    buttons: StepDefinition['buttons']
    target: { selector: string; fingerprint?: unknown } | null
  }[]
}

/** The API checks definitions by the rules of flow files and not by a schema of its own, hence the cast. */
export const writtenIn = ({ definition }: { definition: Record<string, unknown> }): Written =>
  definition as unknown as Written

export const flowPath = (key: string, rest = ''): string =>
  `/manage/flows/${encodeURIComponent(key)}${rest}`
