import type { ComponentType } from 'preact'
import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import type { PickProps } from '../pick/picking.tsx'
import { ChoiceField } from './choice-fields.tsx'
import { hintOf, orderOf, stepKindOf } from './fields.ts'
import { useForm } from './form-context.ts'
import { LongField, TextField } from './form-fields.tsx'
import { AddOrRemove, FieldGroup, KeptFields, MappingFields, RareFields } from './parts-of-flow.tsx'
import { pointerOf } from './problems.ts'
import { RuleList } from './rule-list.tsx'
import { StepLook, StepMedia } from './step-look.tsx'
import { StepQuestion } from './step-question.tsx'
import { StepTarget } from './step-target.tsx'
import { Goto, Navigate, StepWhen } from './step-ways.tsx'
import { UrlFields } from './where-part.tsx'

const { fields } = words

const isSet = (value: unknown) => value !== undefined && value !== null

/** Mappings whose contents are kept as they are if the form has no field for them. */
const keptParts = ['media', 'banner', 'target', 'placement', 'advance', 'page', 'question', 'when']

/** The side of its element on which the step stands. */
const Position = ({ path }: { path: Path }) => (
  <MappingFields path={[...path, 'placement']} name={words.position}>
    <div class="field-row">
      <ChoiceField path={[...path, 'placement', 'side']} label={fields.side} names={words.sides} />
      <ChoiceField
        path={[...path, 'placement', 'align']}
        label={fields.align}
        names={words.aligns}
      />
    </div>
  </MappingFields>
)

function GoingOn({ path }: { path: Path }) {
  const { flow, write } = useForm()
  const on: Path = [...path, 'advance', 'on']
  const event: Path = [...path, 'advance', 'event']
  const hasEvent = valueAt(flow, on) === 'event' || isSet(valueAt(flow, event))
  return (
    <MappingFields path={[...path, 'advance']} name={words.goingOn}>
      <div class="field-row">
        <ChoiceField
          path={on}
          label={fields.advance}
          names={words.advances}
          onChoose={word =>
            word === 'event' ? write(on, word) : write(on, word, { kind: 'unset', path: event })
          }
        />
        {hasEvent && <TextField path={event} label={fields.event} isCode />}
      </div>
    </MappingFields>
  )
}

function ButtonFields({ path, action }: { path: Path; action: unknown }) {
  const { flow, write } = useForm()
  const href: Path = [...path, 'href']
  const hasLink = action === 'link' || isSet(valueAt(flow, href))
  return (
    <>
      <TextField path={[...path, 'label']} label={fields.label} hint="" />
      <ChoiceField
        path={[...path, 'action']}
        label={fields.action}
        names={words.actions}
        hint=""
        onChoose={word =>
          write(
            [...path, 'action'],
            word,
            ...(word === 'link' ? [] : [{ kind: 'unset' as const, path: href }]),
            ...(word === 'next' ? [] : [{ kind: 'unset' as const, path: [...path, 'goto'] }]),
          )
        }
      />
      <Goto path={path} action={action} />
      {hasLink && <TextField path={href} label={fields.href} hint="" placeholder="/help" isCode />}
    </>
  )
}

/** The page that the step is for. Without one, any page that shows the flow. */
function StepPage({ path }: { path: Path }) {
  const { flow, apply } = useForm()
  const at: Path = [...path, 'page']
  const add = () =>
    apply({
      kind: 'set',
      path: at,
      value: { match: 'exact', pattern: '/' },
      order: orderOf(path),
    })
  return (
    <FieldGroup title={words.page} hint={hintOf(at)}>
      <MappingFields path={at} name={words.page}>
        {isMapping(valueAt(flow, at)) && (
          <div class="rule-fields">
            <UrlFields path={at} />
          </div>
        )}
        <AddOrRemove path={at} add={words.addStepPage} remove={words.removeStepPage} onAdd={add} />
      </MappingFields>
    </FieldGroup>
  )
}

/** Everything about one step. */
export function StepPart({
  path,
  onKey,
  pick,
}: {
  path: Path
  onKey: (key: string) => void
  pick: ComponentType<PickProps> | null
}) {
  const { flow } = useForm()
  const step = valueAt(flow, path)
  if (!isMapping(step)) return null
  const kind = stepKindOf(step)
  const isPlaced =
    isSet(step.target) || isSet(step.placement) || ['tooltip', 'hotspot', 'slideout'].includes(kind)
  const pointer = pointerOf(path)
  return (
    <>
      <FieldGroup>
        <TextField path={[...path, 'title']} label={fields.title} />
        <LongField path={[...path, 'body']} label={fields.body} rows={5} />
      </FieldGroup>
      <FieldGroup title={words.place}>
        <ChoiceField
          path={[...path, 'kind']}
          label={fields.kind}
          names={words.stepKinds}
          chosen={kind}
          looks="cards"
        />
        <StepTarget path={path} pick={pick} />
        {isPlaced && <Position path={path} />}
        <StepLook path={path} kind={kind} />
      </FieldGroup>
      <StepMedia path={path} />
      <StepQuestion path={path} />
      <FieldGroup title={words.buttons} hint={hintOf([...path, 'buttons'])}>
        <RuleList
          path={[...path, 'buttons']}
          nameOf={words.button}
          add={words.addButton}
          fresh={{ label: words.actions.next, action: 'next' }}
          empty={words.noButtons}
          most={5}
        >
          {(at, { action }) => <ButtonFields path={at} action={action} />}
        </RuleList>
      </FieldGroup>
      <FieldGroup title={words.goingOn}>
        <GoingOn path={path} />
      </FieldGroup>
      <RareFields
        title={words.moreOfStep}
        places={['page', 'navigate', 'when', 'key'].map(name => `${pointer}/${name}`)}
      >
        <StepPage path={path} />
        <Navigate path={path} />
        <StepWhen path={path} />
        <TextField path={[...path, 'key']} label={fields.key} isCode onText={onKey} />
      </RareFields>
      <KeptFields paths={[path, ...keptParts.map(name => [...path, name])]} />
    </>
  )
}
