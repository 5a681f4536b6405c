import { useSignal } from '@preact/signals'
import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import { importTexts } from '../../../../core/flow/texts/import.ts'
import { maxSheetLength, SheetProblem } from '../../../../core/flow/texts/sheet.ts'
import { readSheet } from '../../../../core/flow/texts/sheet-file.ts'
import { Field } from '../../parts/field.tsx'
import { languageName } from '../preview/appearance.ts'
import type { PutTexts } from './languages.tsx'

/** Imports a file that translators have returned. */
export function ImportTexts({
  flow,
  tag,
  put,
  onImported,
}: {
  flow: FlowDefinition
  /** The chosen language, for files that do not name theirs. */
  tag: string | null
  put: PutTexts
  onImported: (tag: string) => void
}) {
  const done = useSignal('')
  const problem = useSignal('')
  const take = async (file: File | undefined) => {
    done.value = problem.value = ''
    if (!file) return
    try {
      if (file.size > maxSheetLength) throw new SheetProblem('it is larger than 4 MiB')
      const sheet = readSheet(await file.text())
      const locale = sheet.to === null && tag !== null ? { locale: tag } : {}
      const found = importTexts(flow, sheet, locale)
      const left = [
        ...found.outdated.map(({ unit }) => unit.id),
        ...found.superfluous.map(({ id }) => id),
      ]
      done.value = `${languageName(found.locale)}: ${found.changed.length} imported, ${found.unchanged} unchanged.`
      if (left.length > 0) {
        problem.value = `${left.length} skipped, because the flow changed after the export: ${left.slice(0, 5).join(', ')}`
      }
      if (found.changed.length === 0) return
      put(found.locale, found.texts)
      onImported(found.locale)
    } catch (error) {
      if (!(error instanceof SheetProblem)) throw error
      problem.value = `Not imported: ${error.message}.`
    }
  }
  return (
    <>
      <Field
        label="Import translations"
        hint="An XLIFF or JSON file. A file that does not name its language is imported into the one you are editing."
        problem={problem.value}
      >
        {wiring => (
          <input
            {...wiring}
            class="input"
            type="file"
            accept=".xlf,.xliff,.json,application/xliff+xml,application/json"
            onChange={({ currentTarget }) => {
              take(currentTarget.files?.[0]).finally(() => {
                // Otherwise the same file could not be chosen again.
                currentTarget.value = ''
              })
            }}
          />
        )}
      </Field>
      <p role="status">{done.value}</p>
    </>
  )
}
