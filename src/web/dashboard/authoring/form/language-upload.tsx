import { useSignal } from '@preact/signals'
import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import { importTexts } from '../../../../core/flow/texts/import.ts'
import { maxSheetLength, SheetProblem } from '../../../../core/flow/texts/sheet.ts'
import { readSheet } from '../../../../core/flow/texts/sheet-file.ts'
import { Field } from '../../parts/field.tsx'
import { languagesWords as words } from '../../words/languages.ts'
import { languageName } from '../preview/looks.ts'
import type { PutTexts } from './language-texts.tsx'

/** Takes what translators have returned into the text being edited. The author still has to save it. */
export function TakeTexts({
  flow,
  tag,
  put,
  onTaken,
}: {
  flow: FlowDefinition
  /** The chosen language, for files that do not name theirs. */
  tag: string | null
  put: PutTexts
  onTaken: (tag: string) => void
}) {
  const said = useSignal('')
  const problem = useSignal('')
  const take = async (file: File | undefined) => {
    said.value = problem.value = ''
    if (!file) return
    try {
      if (file.size > maxSheetLength) throw new SheetProblem(words.tooLarge)
      const sheet = readSheet(await file.text())
      const locale = sheet.to === null && tag !== null ? { locale: tag } : {}
      const found = importTexts(flow, sheet, locale)
      if (found.changed.length > 0 && !put(found.locale, found.texts)) {
        throw new SheetProblem(words.anchored)
      }
      const left = [
        ...found.outdated.map(({ unit }) => unit.id),
        ...found.superfluous.map(s => s.id),
      ]
      const name = languageName(found.locale)
      said.value = words.taken(name, found.changed.length, found.unchanged)
      if (left.length > 0) problem.value = words.skipped(left.length) + left.slice(0, 5).join(', ')
      if (found.changed.length > 0) onTaken(found.locale)
    } catch (error) {
      if (!(error instanceof SheetProblem)) throw error
      problem.value = words.refused(error.message)
    }
  }
  return (
    <>
      <Field label={words.upload} hint={words.uploadHint} problem={problem.value}>
        {wiring => (
          <input
            {...wiring}
            class="input"
            type="file"
            accept=".xlf,.xliff,.json,application/xliff+xml,application/json"
            onChange={event => {
              const { currentTarget } = event
              take(currentTarget.files?.[0]).finally(() => {
                // Otherwise the same file could not be chosen again.
                currentTarget.value = ''
              })
            }}
          />
        )}
      </Field>
      <p role="status">{said.value}</p>
    </>
  )
}
