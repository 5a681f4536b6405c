import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { ChoiceField } from './choice-fields.tsx'
import { hintOf } from './fields.ts'
import { useForm } from './form-context.ts'
import { NumberField, TextField } from './form-fields.tsx'
import { FieldGroup, MappingFields } from './parts-of-flow.tsx'

const { fields } = words

/** Settings for one kind of step only: where a banner stands, how a dot opens, what is around a tooltip. */
export function StepLook({ path, kind }: { path: Path; kind: string }) {
  const { flow } = useForm()
  const has = (name: string) => valueAt(flow, [...path, name]) !== undefined
  return (
    <>
      {(kind === 'banner' || has('banner')) && (
        <MappingFields path={[...path, 'banner']} name={words.stepKinds.banner}>
          <div class="field-row">
            <ChoiceField
              path={[...path, 'banner', 'edge']}
              label={fields.edge}
              names={words.edges}
            />
            <ChoiceField
              path={[...path, 'banner', 'layout']}
              label={fields.layout}
              names={words.layouts}
            />
          </div>
        </MappingFields>
      )}
      {(kind === 'hotspot' || has('opens')) && (
        <ChoiceField
          path={[...path, 'opens']}
          label={fields.opens}
          names={words.opens}
          chosen="click"
        />
      )}
      {(kind === 'tooltip' || kind === 'hotspot' || has('spotlight')) && (
        <ChoiceField
          path={[...path, 'spotlight']}
          label={fields.spotlight}
          names={words.spotlights}
          unsaid={words.spotlightByTheme}
        />
      )}
    </>
  )
}

/** An image or a video above the text. */
export function StepMedia({ path }: { path: Path }) {
  const { flow } = useForm()
  const at: Path = [...path, 'media']
  const media = valueAt(flow, at)
  const has = (name: string) => isMapping(media) && media[name] !== undefined
  const isSet = has('image') || has('video')
  return (
    <FieldGroup title={words.media} hint={hintOf(at)}>
      <MappingFields path={at} name={words.media}>
        <div class="field-row">
          {(has('image') || !has('video')) && (
            <TextField path={[...at, 'image']} label={fields.image} isCode />
          )}
          {(has('video') || !has('image')) && (
            <TextField path={[...at, 'video']} label={fields.video} isCode />
          )}
        </div>
        {(isSet || has('alt')) && <TextField path={[...at, 'alt']} label={fields.alt} />}
        {(has('video') || has('poster') || has('captions')) && (
          <div class="field-row">
            <TextField path={[...at, 'poster']} label={fields.poster} isCode />
            <TextField path={[...at, 'captions']} label={fields.captions} isCode />
          </div>
        )}
        {(isSet || has('width') || has('height')) && (
          <div class="field-row">
            <NumberField path={[...at, 'width']} label={fields.width} />
            <NumberField path={[...at, 'height']} label={fields.height} />
          </div>
        )}
      </MappingFields>
    </FieldGroup>
  )
}
