import { isMapping, valueAt } from '../../../../core/flow/edit/source.ts'
import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import type { Plain } from '../../../../core/flow/minimal.ts'
import { kindOf } from './fields.ts'

/** A flow as its file has it, as far as texts are concerned. Half-written parts are left out. */
export function toldFlow(flow: { [name: string]: Plain }): FlowDefinition {
  const text = (name: string) =>
    typeof flow[name] === 'string' ? (flow[name] as string) : undefined
  const keyed = (value: Plain | undefined) =>
    (Array.isArray(value) ? value : []).filter(
      part => isMapping(part) && typeof part.key === 'string',
    )
  const texts = isMapping(flow.texts)
    ? Object.fromEntries(Object.entries(flow.texts).filter(([, told]) => isMapping(told)))
    : undefined
  const known = {
    key: text('key') ?? '',
    name: text('name') ?? text('key') ?? '',
    title: text('title'),
    locale: text('locale') || undefined,
    kind: kindOf(flow),
    steps: keyed(flow.steps),
    checklist: isMapping(flow.checklist)
      ? { items: keyed(valueAt(flow, ['checklist', 'items'])) }
      : null,
    texts,
  }
  return known as unknown as FlowDefinition
}
