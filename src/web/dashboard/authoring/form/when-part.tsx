import type { Path } from '../../../../core/flow/edit/source.ts'
import { whenWords as words } from '../../words/when.ts'
import { hintOf } from './fields.ts'
import { NumberField, TextField } from './form-fields.tsx'
import { FieldGroup, KeptFields, MappingFields } from './parts-of-flow.tsx'

const schedule: Path = ['schedule']
const when: Path = ['when']
const rollout: Path = ['rollout']
const goal: Path = ['goal']

/** When the flow begins: between which times, after which event, and for how many people. */
export const WhenPart = () => (
  <>
    <FieldGroup title={words.schedule} hint={hintOf(schedule)}>
      <MappingFields path={schedule} name={words.schedule}>
        <div class="field-row">
          <TextField
            path={[...schedule, 'from']}
            label={words.from}
            placeholder="2026-12-01T09:00"
            isCode
          />
          <TextField path={[...schedule, 'to']} label={words.to} placeholder="2026-12-24" isCode />
        </div>
        <TextField
          path={[...schedule, 'timezone']}
          label={words.timezone}
          placeholder="UTC"
          isCode
          isEmptyNothing
        />
      </MappingFields>
    </FieldGroup>
    <FieldGroup title={words.happened} hint={hintOf(when)}>
      <MappingFields path={when} name={words.happened}>
        <NumberField path={[...when, 'delayMs']} label={words.delayMs} />
        <TextField path={[...when, 'after']} label={words.after} isCode />
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
