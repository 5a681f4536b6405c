import type { Flow } from '../../../../core/flow/flow.ts'
import { isMapping, type Mapping, type Plain, valueAt } from '../../../../core/flow/plain.ts'

/** What is known, with those of the fields that are written as texts. */
function over<Known extends object>(
  known: Known,
  written: Plain | undefined,
  fields: (string & keyof Known)[],
): Known {
  const texts = fields.flatMap(name => {
    const value = valueAt(written, [name])
    return typeof value === 'string' ? [[name, value]] : []
  })
  return { ...known, ...Object.fromEntries(texts) }
}

const withKey = (list: Plain | undefined, key: string) =>
  Array.isArray(list) ? list.find(one => isMapping(one) && one.key === key) : undefined

/**
 * A flow with the current titles, texts and labels of its known parts. Everything else waits until the
 * server has judged it, a moment after it was typed.
 */
export function withTextsOf(flow: Flow, written: Mapping): Flow {
  const steps = flow.steps.map(step => {
    const now = withKey(written.steps, step.key)
    const buttons = step.buttons.map((button, i) =>
      over(button, valueAt(now, ['buttons', i]), ['label']),
    )
    return { ...over(step, now, ['title', 'body']), buttons }
  })
  const itemsIn = (of: 'checklist' | 'launcher') =>
    (flow[of]?.items ?? []).map(item =>
      over(item, withKey(valueAt(written, [of, 'items']), item.key), ['title', 'description']),
    )
  return {
    ...over(flow, written, ['name', 'title']),
    steps,
    checklist: flow.checklist && { ...flow.checklist, items: itemsIn('checklist') },
    ...(flow.launcher && { launcher: { ...flow.launcher, items: itemsIn('launcher') } }),
  }
}
