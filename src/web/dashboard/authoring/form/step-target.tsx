import type { ComponentType } from 'preact'
import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import type { PickProps } from '../pick/picking.tsx'
import { CheckField, ChoiceField } from './choice-fields.tsx'
import { KeptValue, Problems } from './field-frame.tsx'
import { hintOf } from './fields.ts'
import { useForm } from './form-context.ts'
import { LinesField, NumberField, TextField } from './form-fields.tsx'
import { MappingFields, RareFields } from './parts-of-flow.tsx'
import { pointerOf } from './problems.ts'

const { fields } = words

/** The element that a step points at, and what happens to the step if it is missing. */
export function StepTarget({
  path,
  pick: Pick,
}: {
  path: Path
  pick: ComponentType<PickProps> | null
}) {
  const { flow, write, problemsAt, isLocked } = useForm()
  const at: Path = [...path, 'target']
  const selector: Path = [...at, 'selector']
  const target = valueAt(flow, at)
  const rare = ['text', 'nth', 'alternates', 'waitMs', 'required', 'onMissing', 'fingerprint']
  const take = (picked: { selector: string; alternates?: unknown }) => {
    if (!write(selector, picked.selector)) return
    const { alternates } = picked
    if (!Array.isArray(alternates)) return
    const lines = alternates.filter(one => typeof one === 'string').slice(0, 5)
    write([...at, 'alternates'], lines.length > 0 ? lines : undefined)
  }
  return (
    <MappingFields path={at} name={words.element}>
      <div class="with-pick">
        <TextField
          path={selector}
          label={fields.selector}
          hint={`${hintOf(selector)} ${words.noElement}`}
          placeholder="#invite"
          isCode
          isEmptyNothing={isMapping(target) && Object.keys(target).length === 1}
        />
        {Pick && !isLocked && (
          <Pick
            flowKey={String(valueAt(flow, ['key']) ?? '')}
            stepKey={String(valueAt(flow, [...path, 'key']) ?? '')}
            onPicked={take}
          />
        )}
      </div>
      {isMapping(target) && (
        <RareFields title={words.moreOfElement} places={rare.map(name => pointerOf([...at, name]))}>
          <LinesField
            path={[...at, 'alternates']}
            label={fields.alternates}
            hint={`${hintOf([...at, 'alternates'])} ${fields.alternatesHint}`}
          />
          <div class="field-row">
            <TextField path={[...at, 'text']} label={fields.targetText} />
            <NumberField path={[...at, 'nth']} label={fields.nth} />
          </div>
          <div class="field-row">
            <ChoiceField
              path={[...at, 'onMissing']}
              label={fields.onMissing}
              names={words.onMissing}
            />
            <NumberField path={[...at, 'waitMs']} label={fields.waitMs} />
          </div>
          <CheckField path={[...at, 'required']} label={fields.required} />
          {isMapping(target.fingerprint) && (
            <KeptValue
              label={words.kept.fingerprint}
              value={target.fingerprint}
              why={hintOf([...at, 'fingerprint'])}
            />
          )}
          <Problems of={problemsAt([...at, 'fingerprint'])} />
        </RareFields>
      )}
    </MappingFields>
  )
}
