import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import { withText } from '../../../../core/flow/texts/import.ts'
import { directionOf } from '../../../../core/flow/texts/language.ts'
import { textUnits, translationOf } from '../../../../core/flow/texts/units.ts'
import { languageName } from '../preview/appearance.ts'
import { problemsUnder, useForm } from './form.ts'
import { Frame } from './frame.tsx'
import type { PutTexts } from './languages.tsx'

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
    <section class="field-group" aria-label={title}>
      <h3>{title}</h3>
      {units.length === 0 && <p class="hint">The flow has no texts yet.</p>}
      {units.map(unit => {
        const path = ['texts', tag, ...unit.path]
        return (
          <div key={unit.id} class="translation" data-text={unit.id}>
            <div>
              <p class="field-name">{unit.means}</p>
              <p class="source-text" lang={flow.locale} dir="auto">
                {unit.source}
              </p>
            </div>
            <Frame
              label={`${languageName(tag)}: ${unit.means}`}
              isLabelUnseen
              path={path}
              problems={problemsUnder(problems, path)}
            >
              {wiring => {
                const own = {
                  ...wiring,
                  lang: tag,
                  dir: directionOf(tag),
                  placeholder: 'Not translated',
                  value: translationOf(texts, unit) ?? '',
                  onInput: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
                    put(tag, withText(texts ?? {}, unit.path, value === '' ? null : value)),
                }
                if (unit.isMarkdown) return <textarea {...own} class="input prose-input" rows={3} />
                return <input {...own} class="input" autocomplete="off" />
              }}
            </Frame>
          </div>
        )
      })}
    </section>
  )
}
