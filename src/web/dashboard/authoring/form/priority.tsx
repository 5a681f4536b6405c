import type { FlowDefinition, UrlRule } from '../../../../core/flow/flow.ts'
import { pagesOverlap } from '../../../../core/flow/page-overlap.ts'
import type { Mapping } from '../../../../core/flow/plain.ts'
import { never, useRead } from '../../api/read.ts'
import { IconButton } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { useDragging } from './dragging.ts'
import { listOf } from './entries.ts'
import { kindOf, mappingsAt, textOf } from './flow-json.ts'
import { useForm } from './form.ts'
import type { ControlProps } from './table.ts'

interface Listed {
  flows: readonly {
    key: string
    name: string
    status: string
    published?: FlowDefinition | null
  }[]
}

/** As in the flow's schema. */
const maxPriority = 1_000_000

type Rule = Pick<UrlRule, 'match' | 'pattern'>

const rulesOf = (flow: Mapping) =>
  mappingsAt(flow, ['targeting', 'urls']).map(({ match, pattern }) => ({
    match: textOf(match) as Rule['match'],
    pattern: textOf(pattern),
  }))

type Competing = ReturnType<typeof useCompeting>[number]

/** Published flows that can be due on the same pages, with the first that people see on top. */
function useCompeting(flow: Mapping) {
  const { data } = useRead<Listed>('/manage/flows?definitions=1', never)
  const own = listOf(kindOf(flow))
  return (data?.flows ?? [])
    .flatMap(({ key, name, status, published }) =>
      published && status === 'published' && key !== flow.key
        ? [{ key, name, priority: published.priority, published }]
        : [],
    )
    .filter(
      ({ published }) =>
        listOf(published.kind) === own && pagesOverlap(rulesOf(flow), published.targeting.urls),
    )
    .sort((a, b) => b.priority - a.priority)
}

/** The priority at a place among others: between both neighbours, or level with the lower one. */
function priorityAt(place: number, others: readonly { priority: number }[]): number {
  const [upper, lower] = [others[place - 1], others[place]]
  if (!lower) return Math.max(-maxPriority, upper!.priority - 1)
  const next = Math.min(maxPriority, lower.priority + 1)
  return upper && next >= upper.priority ? lower.priority : next
}

/** Which flow comes first on pages that show several: a list in which this flow moves. */
export function PriorityField({ frame, value, write, flow }: ControlProps) {
  const { isLocked } = useForm()
  const own = typeof value === 'number' ? value : 0
  const competing = useCompeting(flow)
  const above = competing.filter(({ priority }) => priority > own)
  const same = competing.filter(({ priority }) => priority === own)
  const below = competing.filter(({ priority }) => priority < own)
  // A step at a time: past the flows of the same priority, or level with the next.
  const up = same.length > 0 ? own + 1 : (above.at(-1)?.priority ?? own)
  const down = same.length > 0 ? own - 1 : (below[0]?.priority ?? own)
  const others = [...above, ...below]
  const dragging = useDragging(others.length + 1, (_, to) => write(priorityAt(to, others)))
  const rowOf = ({ key, name }: Competing, place: number) => (
    <li key={key} class={`row ${dragging.classOf(place)}`} {...dragging.row(place)}>
      {name}
    </li>
  )
  return (
    <Field {...frame} isGroup hint="The first flow in the list is shown first.">
      {() => (
        <>
          {competing.length === 0 ? (
            <p class="hint">No other published flow is shown on these pages.</p>
          ) : (
            <ol class="priority-list framed">
              {above.map(rowOf)}
              <li
                class={`row own ${dragging.classOf(above.length)}`}
                aria-current="true"
                {...dragging.row(above.length)}
              >
                <strong>This flow</strong>
                {same.length > 0 && (
                  <span class="hint">level with {same.map(({ name }) => name).join(', ')}</span>
                )}
                {!isLocked && (
                  <span class="line gap-1 push">
                    <IconButton
                      icon="grip"
                      label="Move this flow: drag it"
                      {...dragging.grip(above.length, 'This flow')}
                    />
                    <IconButton
                      icon="up"
                      label="Show earlier"
                      disabled={up === own}
                      onClick={() => write(up)}
                    />
                    <IconButton
                      icon="down"
                      label="Show later"
                      disabled={down === own}
                      onClick={() => write(down)}
                    />
                  </span>
                )}
              </li>
              {below.map((one, place) => rowOf(one, above.length + 1 + place))}
            </ol>
          )}
        </>
      )}
    </Field>
  )
}
