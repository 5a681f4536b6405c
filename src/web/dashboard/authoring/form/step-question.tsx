import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { questionFormWords as words } from '../../words/question-form.ts'
import { CheckField, ChoiceField } from './choice-fields.tsx'
import { hintOf, orderOf } from './fields.ts'
import { useForm } from './form-context.ts'
import { NumberField, TextField } from './form-fields.tsx'
import { AddOrRemove, FieldGroup, MappingFields } from './parts-of-flow.tsx'
import { RuleList } from './rule-list.tsx'

const { fields } = words

/** A key for a new choice, which no other choice has. */
function freeKey(choices: unknown): string {
  const taken = new Set((Array.isArray(choices) ? choices : []).map(choice => choice?.key))
  let place = 1
  while (taken.has(`choice-${place}`)) place++
  return `choice-${place}`
}

function Rating({ path }: { path: Path }) {
  const { flow } = useForm()
  const at = (name: string) => valueAt(flow, [...path, name])
  const hasNumbers = at('scale') === 'numbers' || (at('min') ?? at('max')) !== undefined
  return (
    <>
      <ChoiceField
        path={[...path, 'scale']}
        label={fields.scale}
        names={words.scales}
        chosen="nps"
        looks="cards"
      />
      {hasNumbers && (
        <div class="field-row">
          <NumberField path={[...path, 'min']} label={fields.min} />
          <NumberField path={[...path, 'max']} label={fields.max} />
        </div>
      )}
      <div class="field-row">
        <TextField path={[...path, 'low']} label={fields.low} />
        <TextField path={[...path, 'high']} label={fields.high} />
      </div>
    </>
  )
}

function Choices({ path }: { path: Path }) {
  const { flow } = useForm()
  const choices: Path = [...path, 'choices']
  return (
    <>
      <RuleList
        path={choices}
        nameOf={words.choice}
        add={words.addChoice}
        fresh={{ key: freeKey(valueAt(flow, choices)), label: '' }}
        empty={words.noChoices}
        most={10}
      >
        {at => (
          <>
            <TextField path={[...at, 'label']} label={fields.label} hint="" />
            <TextField path={[...at, 'key']} label={fields.key} hint="" isCode />
          </>
        )}
      </RuleList>
      <CheckField path={[...path, 'several']} label={fields.several} />
    </>
  )
}

/** The fields that a new question of each type begins with. */
const fresh = {
  rating: { type: 'rating' },
  choice: {
    type: 'choice',
    choices: [
      { key: 'choice-1', label: words.yes },
      { key: 'choice-2', label: words.no },
    ],
  },
  text: { type: 'text' },
} as const

/** What the step asks, if it asks anything. */
export function StepQuestion({ path }: { path: Path }) {
  const { flow, apply } = useForm()
  const at: Path = [...path, 'question']
  const question = valueAt(flow, at)
  /** Whether it is of this type, or the file has fields of it all the same. */
  const has = (type: string, ...names: string[]) =>
    isMapping(question) &&
    (question.type === type || names.some(name => question[name] !== undefined))
  const set = (type: string) => {
    const before = isMapping(question) ? question : {}
    const { required } = before
    const value = {
      ...structuredClone(fresh[type as keyof typeof fresh]),
      ...(required !== undefined && { required }),
    }
    return apply({ kind: 'set', path: at, value: value as never, order: orderOf(path) })
  }
  return (
    <FieldGroup title={words.question} hint={hintOf(at)}>
      <MappingFields path={at} name={words.question}>
        {isMapping(question) && (
          <>
            <ChoiceField
              path={[...at, 'type']}
              label={fields.type}
              names={words.types}
              looks="cards"
              onChoose={set}
            />
            {has('rating', 'scale', 'min', 'max', 'low', 'high') && <Rating path={at} />}
            {has('choice', 'choices', 'several') && <Choices path={at} />}
            {has('text', 'placeholder', 'longest') && (
              <div class="field-row">
                <TextField path={[...at, 'placeholder']} label={fields.placeholder} />
                <NumberField path={[...at, 'longest']} label={fields.longest} />
              </div>
            )}
            <CheckField path={[...at, 'required']} label={fields.required} />
          </>
        )}
        <AddOrRemove path={at} add={words.add} remove={words.remove} onAdd={() => set('rating')} />
      </MappingFields>
    </FieldGroup>
  )
}
