import type { Flow, FlowDefinition } from '../../../../core/flow/flow.ts'
import { minimalFlow } from '../../../../core/flow/minimal.ts'
import type { Mapping } from '../../../../core/flow/plain.ts'
import type { DraftAnswer, Validated } from '../../../../modules/authoring/schema.ts'
import type { Failure } from '../../api/failure.ts'
import { ask } from '../../api/request.ts'
import { flowPath } from '../../flows/definition.ts'
import type { FlowProblem } from '../form/form.ts'

/** A flow as the server has it. */
export interface Base {
  etag: string
  definition: FlowDefinition
  /** The same as briefly as its author could have written it. */
  flow: Mapping
}

/** Why something is not saved. A passing reason is tried again. */
export interface Rejected {
  message: string
  isPassing: boolean
}

export function baseOf({ etag, definition }: DraftAnswer): Base {
  const written = definition as FlowDefinition
  return { etag, definition: written, flow: minimalFlow(written) }
}

/** Reads what was last saved of a flow. @throws Failure */
export const readBase = async (key: string): Promise<Base> =>
  baseOf((await ask<DraftAnswer>(flowPath(key, '/draft'))).value!)

export const rejected = (why: string): Rejected => ({
  message: `Not saved. ${why}`,
  isPassing: false,
})

/** Why the server does not take a flow with these problems. */
export function whyInvalid(problems: readonly FlowProblem[]): string {
  const { length } = problems.filter(({ severity }) => severity === 'error')
  if (length === 0) return 'The YAML must contain exactly one flow.'
  return length === 1 ? 'Fix 1 error.' : `Fix ${length} errors.`
}

export function reasonOf({ status, isPassing, message }: Failure): Rejected {
  if (status === 401) {
    return { message: 'Not saved. Sign in again; your changes are kept.', isPassing: true }
  }
  if (!isPassing) return rejected(message)
  const text = 'Not saved: server unreachable. Your changes are kept in this browser.'
  return { message: text, isPassing: true }
}

/** What the author writes: a flow, as YAML while that is what is being written. */
export interface Work {
  /** Null while the YAML cannot be read. */
  flow: Mapping | null
  text: string | null
}

/** What the server says about some work. */
export interface Judged {
  of: Work
  problems: readonly FlowProblem[]
  /** To be saved; null while there are errors. */
  definition: FlowDefinition | null
  /** What pages would get of it. */
  flow: Flow | null
}

/** What the server says about some work. @throws Failure */
export async function judgedByServer(work: Work): Promise<Judged> {
  const text = work.text ?? JSON.stringify(work.flow)
  const { value } = await ask<Validated>('/manage/validate', {
    method: 'POST',
    body: { text, ...(work.text === null && { format: 'json' }), normalised: true },
  })
  const { problems, definitions = [], normalised = [], valid } = value!
  const isOne = valid && definitions.length === 1
  return {
    of: work,
    problems: problems as FlowProblem[],
    definition: isOne ? definitions[0]! : null,
    flow: isOne ? normalised[0]! : null,
  }
}
