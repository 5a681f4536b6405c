import { useSignal } from '@preact/signals'
import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import { isMapping, type Mapping, type Plain } from '../../../../core/flow/plain.ts'
import { type SheetFormat, sheetOf } from '../../../../core/flow/texts/sheet.ts'
import { sheetFileType, sheetText } from '../../../../core/flow/texts/sheet-file.ts'
import { coverageOf, textUnits } from '../../../../core/flow/texts/units.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { LanguageField, languageName } from '../../parts/pickers.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { language } from '../preview/appearance.ts'
import { Fields } from './fields.tsx'
import { kindOf, mappingsAt, textOf, withValue } from './flow-json.ts'
import { ownLanguage } from './flow-tables.ts'
import { isUnder, pointerOf, problemsUnder, useForm } from './form.ts'
import { ImportTexts } from './language-import.tsx'
import { LanguageTexts, type PutTexts } from './language-texts.tsx'
import { Problems } from './problems.tsx'

/** A flow as far as texts are concerned. Half-written parts are left out. */
function textsOf(flow: Mapping): FlowDefinition {
  const keyed = (path: readonly string[]) =>
    mappingsAt(flow, path).filter(({ key }) => typeof key === 'string')
  const known = {
    key: textOf(flow.key),
    name: textOf(flow.name ?? flow.key),
    title: typeof flow.title === 'string' ? flow.title : undefined,
    locale: textOf(flow.locale) || undefined,
    kind: kindOf(flow),
    steps: keyed(['steps']),
    checklist: isMapping(flow.checklist) ? { items: keyed(['checklist', 'items']) } : null,
    launcher: isMapping(flow.launcher) ? { items: keyed(['launcher', 'items']) } : undefined,
    texts: isMapping(flow.texts)
      ? Object.fromEntries(Object.entries(flow.texts).filter(([, texts]) => isMapping(texts)))
      : undefined,
  }
  return known as unknown as FlowDefinition
}

function download(flow: FlowDefinition, tag: string, format: SheetFormat): void {
  const { ending, type } = sheetFileType(format)
  const file = new Blob([sheetText(sheetOf(flow, tag), format)], { type })
  saveFile(file, `${flow.key || 'flow'}.${tag}.${ending}`)
}

const formats = { xliff: 'XLIFF', json: 'JSON' } as const

/** The languages of a flow: what is missing, the files for translators, and each text. */
export function LanguagesPart() {
  const { flow: written, change, isLocked, problems } = useForm()
  const flow = textsOf(written)
  const covered = coverageOf(flow)
  const chosen = useSignal<string | null>(null)
  const tag = covered.some(({ locale }) => locale === chosen.value)
    ? chosen.value
    : (covered[0]?.locale ?? null)
  const put: PutTexts = (to, texts) =>
    change(now => withValue(now, ['texts', to], (texts ?? undefined) as Plain) as Mapping)
  /** The preview shows the language that is edited. */
  const choose = (to: string) => {
    chosen.value = to
    language.value = to
  }
  const columns: Column<(typeof covered)[number]>[] = [
    { name: 'Language', isTitle: true, cell: ({ locale }) => languageName(locale) },
    { name: 'Texts', isNumber: true, cell: ({ translated, of }) => `${translated} of ${of}` },
    {
      name: 'For translators',
      cell: ({ locale }) => (
        <span class="actions">
          <Button
            look={locale === tag ? 'primary' : 'plain'}
            aria-pressed={locale === tag}
            onClick={() => choose(locale)}
          >
            Edit {languageName(locale)}
          </Button>
          {(['xliff', 'json'] as const).map(format => (
            <Button
              key={format}
              icon="download"
              aria-label={`Download ${languageName(locale)} as ${formats[format]}`}
              onClick={() => download(flow, locale, format)}
            >
              {formats[format]}
            </Button>
          ))}
          {!isLocked && (
            <IconButton
              icon="close"
              label={`Remove ${languageName(locale)}`}
              onClick={() => put(locale, null)}
            />
          )}
        </span>
      ),
    },
  ]
  const places = tag === null ? [] : textUnits(flow).map(unit => ['texts', tag, ...unit.path])
  const homeless = problemsUnder(problems, ['texts']).filter(
    ({ path }) => !places.some(place => isUnder(path, pointerOf(place))),
  )
  return (
    <>
      <Fields of={ownLanguage} />
      <section class="field-group stack" aria-label="Other languages">
        <div class="stack gap-1">
          <h3>Other languages</h3>
          <p class="hint">
            Visitors read the language of your page or of their browser. Missing texts are shown in
            the language that the flow is written in.
          </p>
        </div>
        <Problems of={homeless} />
        {covered.length === 0 && <p class="hint">No other languages yet.</p>}
        {covered.length > 0 && (
          <Table
            caption="Other languages"
            columns={columns}
            rows={covered}
            keyOf={({ locale }) => locale}
          />
        )}
        {!isLocked && flow.locale === undefined && (
          <p class="hint">Choose the language that the flow is written in first.</p>
        )}
        {!isLocked && flow.locale !== undefined && (
          <>
            <LanguageField
              label="Add a language"
              value=""
              except={[flow.locale, ...covered.map(({ locale }) => locale)]}
              onChange={to => {
                put(to, {})
                choose(to)
              }}
            />
            <ImportTexts flow={flow} tag={tag} put={put} onImported={choose} />
          </>
        )}
      </section>
      {tag !== null && <LanguageTexts key={tag} flow={flow} tag={tag} put={put} />}
    </>
  )
}
