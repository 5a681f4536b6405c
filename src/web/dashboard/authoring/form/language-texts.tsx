import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import type { LocaleTexts } from '../../../../core/flow/texts/fields.ts'
import { withText } from '../../../../core/flow/texts/import.ts'
import { directionOf } from '../../../../core/flow/texts/language.ts'
import { textUnits, translationOf } from '../../../../core/flow/texts/units.ts'
import { languagesWords as words } from '../../words/languages.ts'
import { languageName } from '../preview/looks.ts'
import { FieldFrame } from './field-frame.tsx'
import { useForm } from './form-context.ts'
import { FieldGroup } from './parts-of-flow.tsx'
import { pointerOf } from './problems.ts'

/** Writes a flow's texts in a language into its file; null removes the language. */
export type PutTexts = (tag: string, texts: LocaleTexts | null) => boolean

/** Every text of a flow with its translation beside it. */
export function LanguageTexts({
  flow,
  tag,
  put,
}: {
  flow: FlowDefinition
  tag: string
  put: PutTexts
}) {
  const { problems } = useForm()
  const told = flow.texts?.[tag]
  const units = textUnits(flow)
  return (
    <FieldGroup title={words.textsIn(languageName(tag))}>
      {units.length === 0 && <p class="hint">{words.noTexts}</p>}
      {units.map(unit => {
        const text = translationOf(told, unit)
        const place = pointerOf(['texts', tag, ...unit.path])
        return (
          <div key={unit.id} class="told" data-text={unit.id}>
            <div class="told-source">
              <p class="field-name">{unit.means}</p>
              <p lang={flow.locale} dir="auto">
                {unit.source}
              </p>
            </div>
            <FieldFrame
              label={`${languageName(tag)}: ${unit.means}`}
              isLabelUnseen
              problems={problems.filter(({ path }) => path === place)}
            >
              {wiring => {
                const own = {
                  ...wiring,
                  lang: tag,
                  dir: directionOf(tag),
                  placeholder: words.untold,
                  value: text ?? '',
                  onInput: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
                    put(tag, withText(told ?? {}, unit.path, value === '' ? null : value))
                  },
                }
                if (unit.isMarkdown) return <textarea {...own} class="input prose-input" rows={3} />
                return <input {...own} class="input" autocomplete="off" />
              }}
            </FieldFrame>
          </div>
        )
      })}
    </FieldGroup>
  )
}
