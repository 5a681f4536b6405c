import { useSignal } from '@preact/signals'
import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import type { Plain } from '../../../../core/flow/minimal.ts'
import { textChanges } from '../../../../core/flow/texts/edit.ts'
import { type SheetFormat, sheetOf } from '../../../../core/flow/texts/sheet.ts'
import { sheetFileType, sheetText } from '../../../../core/flow/texts/sheet-file.ts'
import { coverageOf } from '../../../../core/flow/texts/units.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { languagesWords as words } from '../../words/languages.ts'
import { language, languageName } from '../preview/looks.ts'
import { Problems } from './field-frame.tsx'
import { useForm } from './form-context.ts'
import { TextField } from './form-fields.tsx'
import { AddLanguage } from './language-add.tsx'
import { LanguageTexts, type PutTexts } from './language-texts.tsx'
import { TakeTexts } from './language-upload.tsx'
import { toldFlow } from './languages.ts'
import { FieldGroup } from './parts-of-flow.tsx'

function download(flow: FlowDefinition, tag: string, format: SheetFormat): void {
  const { ending, type } = sheetFileType(format)
  const file = new Blob([sheetText(sheetOf(flow, tag), format)], { type })
  saveFile(file, `${flow.key || 'flow'}.${tag}.${ending}`)
}

/** The languages of a flow: what is missing, the files for translators, and each text. */
export function LanguagesPart({ flowNow }: { flowNow: () => { [name: string]: Plain } }) {
  const { flow: written, apply, isLocked, problemsAt } = useForm()
  const flow = toldFlow(written)
  const covered = coverageOf(flow)
  const chosen = useSignal<string | null>(null)
  const tag = covered.some(({ locale }) => locale === chosen.value)
    ? chosen.value
    : (covered[0]?.locale ?? null)
  const put: PutTexts = (to, texts) => apply(...textChanges(flowNow(), to, texts))
  /** The preview shows the language that is edited. */
  const choose = (to: string) => {
    chosen.value = to
    language.value = to
  }

  type Row = (typeof covered)[number]
  const columns: Column<Row>[] = [
    {
      name: words.language,
      isTitle: true,
      cell: ({ locale }) => (
        <>
          {languageName(locale)} <code>{locale}</code>
        </>
      ),
    },
    {
      name: words.texts,
      isNumber: true,
      cell: ({ translated, of }) => words.told(translated, of),
    },
    {
      name: words.files,
      cell: ({ locale }) => (
        <span class="actions">
          <Button
            look={locale === tag ? 'primary' : 'plain'}
            aria-pressed={locale === tag}
            onClick={() => choose(locale)}
          >
            {words.edit(languageName(locale))}
          </Button>
          {(['xliff', 'json'] as const).map(format => (
            <Button
              key={format}
              icon="download"
              aria-label={words.download(languageName(locale), words[format])}
              onClick={() => download(flow, locale, format)}
            >
              {words[format]}
            </Button>
          ))}
          {!isLocked && (
            <IconButton
              icon="close"
              label={words.remove(languageName(locale))}
              onClick={() => put(locale, null)}
            />
          )}
        </span>
      ),
    },
  ]
  return (
    <>
      <FieldGroup>
        <TextField path={['locale']} label={words.own} isCode placeholder="en" />
      </FieldGroup>
      <FieldGroup title={words.others} hint={words.othersHint}>
        <Problems of={problemsAt(['texts'])} />
        {covered.length === 0 && <p class="hint">{words.none}</p>}
        {covered.length > 0 && (
          <Table
            class="languages"
            caption={words.others}
            columns={columns}
            rows={covered}
            keyOf={({ locale }) => locale}
          />
        )}
        {!isLocked && flow.locale === undefined && <p class="hint">{words.first}</p>}
        {!isLocked && flow.locale !== undefined && (
          <>
            <AddLanguage flow={flow} onAdd={to => put(to, {}) && choose(to)} />
            <TakeTexts flow={flow} tag={tag} put={put} onTaken={choose} />
          </>
        )}
      </FieldGroup>
      {tag !== null && <LanguageTexts key={tag} flow={flow} tag={tag} put={put} />}
    </>
  )
}
