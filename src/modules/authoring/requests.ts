import { invalid, type Problem } from '../../core/errors.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { auditOf } from '../../http/management.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import { maxFlows } from './rules.ts'
import { maxFlowsACall } from './schema.ts'
import { type Authoring, type Expected, expectationOf } from './service.ts'

/** What routes about flows read from a request. */

/** The flows of the caller's organisation, and the caller as their author. */
export const authoringOf = (
  call: RequestContext,
  deps: { flows: FlowStore; flowWork: FlowWork },
  note?: string,
): Authoring => ({
  store: deps.flows,
  flowWork: deps.flowWork,
  orgRef: call.org.ref,
  audit: auditOf(call),
  now: call.receivedAt,
  note: note ?? null,
})

/** The key of the flow that the path names. */
export const keyOf = ({ params }: RequestContext) => params.key ?? ''

/** What the headers of a request require of a flow. */
export const expectedIn = ({ request: { headers } }: RequestContext): Expected =>
  expectationOf(headers.get('if-match'), headers.get('if-none-match'))

/**
 * How much of a flow is validated within a request. Validation takes some 7 µs per value, so a mebibyte of
 * numbers would block a thread for seconds. No flow that pages could show comes near this.
 */
const maxValues = 15_000
const maxLevels = 50

const tooMany = `Must hold at most ${maxValues} values`

/** What a JSON value has too much of; null if it is within the bounds. */
function excessOfValue(value: unknown): string | null {
  let values = 0
  const open: { value: unknown; level: number }[] = [{ value, level: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    if (++values > maxValues) return tooMany
    if (typeof next.value !== 'object' || next.value === null) continue
    const level = next.level + 1
    if (level > maxLevels) return `Must be at most ${maxLevels} levels deep`
    // The values of a list are read one by one, at 600 ns each.
    const inside = Array.isArray(next.value) ? next.value : Object.values(next.value)
    if (values + inside.length > maxValues) return tooMany
    for (const each of inside) open.push({ value: each, level })
  }
  return null
}

/** The same for the text of a flow file, estimated by the characters that can begin a value. */
export function excessOfText(text: string): string | null {
  let values = 0
  for (const _ of text.matchAll(/[,:[{\n]/g)) if (++values > maxValues) return tooMany
  return null
}

/**
 * Reads the flows of a body by the rules of flow files.
 *
 * @param written each flow with its path in the body
 * @throws AppError `validation_failed` with every mistake
 */
export async function definitionsIn(
  written: readonly { flow: unknown; path: string }[],
  orgRef: OrganisationRef,
  flowWork: FlowWork,
): Promise<FlowDefinition[]> {
  const flows: FlowDefinition[] = []
  const problems: Problem[] = []
  const pathOfKey = new Map<string, string>()
  for (const { flow, path } of written) {
    const excess = excessOfValue(flow)
    if (excess !== null) throw invalid({ path, message: excess })
    const { definition, errors } = await flowWork(orgRef, 'define', JSON.stringify(flow))
    problems.push(...errors.map(error => ({ path: path + error.path, message: error.message })))
    if (!definition) continue
    const earlier = pathOfKey.get(definition.key)
    if (earlier !== undefined) {
      problems.push({ path: `${path}/key`, message: `Must not be that of ${earlier}` })
    }
    pathOfKey.set(definition.key, path)
    flows.push(definition)
  }
  if (problems.length > 0) throw invalid(...problems)
  return flows
}

/** The operator may change as many flows at once as an organisation may have. */
export function requireFew(call: RequestContext, path: string, flows: readonly unknown[]): void {
  const maxLength = call.principal?.kind === 'operator' ? maxFlows : maxFlowsACall
  if (flows.length <= maxLength) return
  throw invalid({ path, message: `Must have at most ${maxLength} elements` })
}
