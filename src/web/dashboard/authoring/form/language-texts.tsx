import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import type { LocaleTexts } from '../../../../core/flow/texts/fields.ts'
import { withText } from '../../../../core/flow/texts/import.ts'
import { directionOf } from '../../../../core/flow/texts/language.ts'
import { textUnits, translationOf } from '../../../../core/flow/texts/units.ts'
import { languageName } from '../../parts/pickers.tsx'
import { TextArea, TextField } from '../../parts/text-field.tsx'
import { pointerOf, problemsUnder, useForm } from './form.ts'

/** Gives the flow its texts in a language; null removes the language. */
export type PutTexts = (tag: string, texts: LocaleTexts | null) => void

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
  const texts = flow.texts?.[tag]
  const units = textUnits(flow)
  const title = `Texts in ${languageName(tag)}`
  return (
    <section class="field-group stack" aria-label={title}>
      <h3>{title}</h3>
      {units.length === 0 && <p class="hint">The flow has no texts yet.</p>}
      {units.map(unit => {
        const path = ['texts', tag, ...unit.path]
        const Input = unit.isMarkdown ? TextArea : TextField
        return (
          <div key={unit.id} class="grid" data-text={unit.id} data-path={pointerOf(path)}>
            <div>
              <p class="field-label">{unit.means}</p>
              <p class="written" lang={flow.locale} dir="auto">
                {unit.source}
              </p>
            </div>
            <Input
              label={`${languageName(tag)}: ${unit.means}`}
              isLabelUnseen
              problem={problemsUnder(problems, path)}
              isProblemOld
              lang={tag}
              dir={directionOf(tag)}
              placeholder="Not translated"
              value={translationOf(texts, unit) ?? ''}
              onChange={text => put(tag, withText(texts ?? {}, unit.path, text || null))}
            />
          </div>
        )
      })}
    </section>
  )
}
