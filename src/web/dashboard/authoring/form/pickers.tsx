import { useRead } from '../../api/read.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'
import { Combobox } from '../../parts/combobox.tsx'
import { Select } from '../../parts/select.tsx'
import { healthPath, type StepCheck } from '../../steps/health.ts'
import { mappingsAt, textOf } from './flow-json.ts'
import type { ControlProps } from './table.ts'

/** Things of the organisation that have a name, so that nobody has to type their key or address. */

/** Another flow, by name. */
export function FlowPicker({ frame, value, write, flow }: ControlProps) {
  const { data } = useRead<FlowList>(flowsPath)
  const others = (data?.flows ?? []).filter(
    ({ key, status }) => key !== flow.key && (status !== 'archived' || key === value),
  )
  return (
    <Select
      {...frame}
      value={textOf(value)}
      options={others.map(({ key, name }) => [key, name])}
      none="None"
      onChange={key => write(key || undefined)}
    />
  )
}

/** One of the flow's steps, by its place and title. */
export const StepPicker = ({ frame, field, value, write, flow }: ControlProps) => (
  <Select
    {...frame}
    value={textOf(value)}
    options={mappingsAt(flow, ['steps']).flatMap(({ key, title }, at) =>
      typeof key === 'string' ? [[key, `${at + 1}. ${title || key}`] as const] : [],
    )}
    none={field.none}
    onChange={key => write(key || undefined)}
  />
)

/** An address or a path: one of a page that has reported, or another. */
export function PagePicker({ frame, field, value, write }: ControlProps) {
  const { data } = useRead<StepCheck>(healthPath)
  const seen = (data?.steps ?? []).flatMap(step => step.pages.flatMap(({ page }) => page ?? []))
  const paths = seen.flatMap(page => URL.parse(page)?.pathname ?? [])
  return (
    <Combobox
      {...frame}
      canBeOther
      value={textOf(value)}
      none=""
      placeholder={typeof field.placeholder === 'string' ? field.placeholder : '/projects'}
      options={[...new Set([...paths, ...seen])].sort().map(page => ({ value: page, label: page }))}
      onChange={write}
    />
  )
}
