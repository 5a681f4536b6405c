import type { Path } from '../../../../core/flow/edit/source.ts'
import { useRead } from '../../api/read.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'
import { whenWords as words } from '../../words/when.ts'
import { KeptValue, SelectField } from './field-frame.tsx'
import { hintOf } from './fields.ts'
import { useForm, useFormField } from './form-context.ts'
import { isPlain, NumberField, TextField, textOf } from './form-fields.tsx'
import { FieldGroup, KeptFields, MappingFields } from './parts-of-flow.tsx'
import { TimeField } from './time-field.tsx'

const schedule: Path = ['schedule']
const when: Path = ['when']
const rollout: Path = ['rollout']
const goal: Path = ['goal']

const zones = Intl.supportedValuesOf('timeZone')

/** Another flow that has to be completed before. */
function After() {
  const { flow } = useForm()
  const path: Path = [...when, 'after']
  const { value, problems, write } = useFormField(path)
  const { data } = useRead<FlowList>(flowsPath)
  if (!isPlain(value)) return <KeptValue label={words.after} value={value!} />
  const others = (data?.flows ?? []).filter(
    ({ key, status }) => key !== flow.key && (status !== 'archived' || key === value),
  )
  return (
    <SelectField
      label={words.after}
      hint={hintOf(path)}
      problems={problems}
      value={textOf(value)}
      options={others.map(({ key, name }) => [key, name])}
      none={words.afterNone}
      onChoose={key => write(key || undefined)}
    />
  )
}

/** When the flow begins: between which times, after which event, and for how many people. */
export const WhenPart = () => (
  <>
    <FieldGroup title={words.schedule} hint={hintOf(schedule)}>
      <MappingFields path={schedule} name={words.schedule}>
        <div class="field-row">
          <TimeField path={[...schedule, 'from']} label={words.from} hint={words.fromHint} />
          <TimeField path={[...schedule, 'to']} label={words.to} hint={words.toHint} />
        </div>
        <TextField
          path={[...schedule, 'timezone']}
          label={words.timezone}
          placeholder="UTC"
          isCode
          isEmptyNothing
          suggestions={zones}
        />
      </MappingFields>
    </FieldGroup>
    <FieldGroup title={words.happened} hint={hintOf(when)}>
      <MappingFields path={when} name={words.happened}>
        <NumberField path={[...when, 'delayMs']} label={words.delayMs} />
        <After />
        <div class="field-row">
          <TextField path={[...when, 'event']} label={words.event} isCode />
          <NumberField path={[...when, 'count']} label={words.count} />
          <TextField path={[...when, 'within']} label={words.within} placeholder="7d" isCode />
        </div>
        <TextField path={[...when, 'element']} label={words.element} isCode />
      </MappingFields>
    </FieldGroup>
    <FieldGroup title={words.people} hint={hintOf(rollout)}>
      <MappingFields path={rollout} name={words.people}>
        <div class="field-row">
          <NumberField path={[...rollout, 'percent']} label={words.percent} />
          <NumberField path={[...rollout, 'holdOut']} label={words.holdOut} />
        </div>
      </MappingFields>
      <MappingFields path={goal} name={words.goal}>
        <TextField path={[...goal, 'event']} label={words.goal} isCode isEmptyNothing />
      </MappingFields>
    </FieldGroup>
    <KeptFields paths={[schedule, when, rollout, goal]} />
  </>
)
