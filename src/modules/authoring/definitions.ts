import { invalid, type Problem } from '../../core/errors.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { excessOfValue } from './bounds.ts'
import { maxFlows } from './rules.ts'
import { maxFlowsACall } from './schema.ts'

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
  const wrong: Problem[] = []
  const places = new Map<string, string>()
  for (const { flow, path } of written) {
    const excess = excessOfValue(flow)
    if (excess !== null) throw invalid({ path, message: excess })
    const { definition, errors } = await flowWork(orgRef, 'define', JSON.stringify(flow))
    wrong.push(...errors.map(({ path: at, message }) => ({ path: path + at, message })))
    if (!definition) continue
    const earlier = places.get(definition.key)
    if (earlier !== undefined) {
      wrong.push({ path: `${path}/key`, message: `Must not be that of ${earlier}` })
    }
    places.set(definition.key, path)
    flows.push(definition)
  }
  if (wrong.length > 0) throw invalid(...wrong)
  return flows
}

/** The operator may change as many flows at once as an organisation may have, all or none. */
export function requireFew(call: RequestContext, path: string, flows: readonly unknown[]): void {
  const most = call.principal?.kind === 'operator' ? maxFlows : maxFlowsACall
  if (flows.length <= most) return
  throw invalid({ path, message: `Must have at most ${most} elements` })
}
