import { Option } from 'commander'
import { importTexts, requireLocale, type TextImport } from '../../core/flow/texts/import.ts'
import { localeProblem } from '../../core/flow/texts/locale.ts'
import {
  type SheetFormat,
  SheetProblem,
  sheetFormats,
  sheetOf,
} from '../../core/flow/texts/sheet.ts'
import { readSheet, sheetText } from '../../core/flow/texts/sheet-file.ts'
import { coverageOf, textUnits } from '../../core/flow/texts/units.ts'
import { quoted, shown } from '../../core/text/wording.ts'
import type { Command, Flags } from '../command.ts'
import { CommandFailure, UsageFailure } from '../failure.ts'
import { asUsers, readTextFile, replaceFile } from '../files.ts'
import { addTarget } from '../manage.ts'
import { counted, print, printJson, printTable, tell } from '../output.ts'
import { changeTexts, flowNamed, flowsNamed } from './texts-place.ts'

const where = 'a flow’s key, or its file (YAML, or JSON by its ending)'

/** The commands for the files that translators are given and give back. */
export function addTexts(flows: Command): void {
  const texts = flows
    .command('texts')
    .summary('translations of flows: export, import, show what is missing')
    .description(
      'The texts of flows in other languages, as files for translators and their tools: ' +
        'XLIFF 2.0 or flat JSON. Flows are taken from drafts by their keys, or from files.',
    )
    .examples(
      'cairn flows texts status',
      'cairn flows texts export welcome --locale de -o welcome.de.xlf',
      'cairn flows texts import welcome welcome.de.xlf --dry-run',
      'cairn flows texts import tour.yaml welcome.de.xlf   its comments stay',
    )
  addStatus(texts)
  addExport(texts)
  addImport(texts)
}

/** Reports what is wrong with a file for translators, or with the options. */
function reporting<Result>(name: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SheetProblem)) throw error
    throw new CommandFailure(`${name}: ${error.message}`)
  }
}

function addStatus(texts: Command): void {
  addTarget(
    texts
      .command('status')
      .description('show how many texts of each flow are translated into each language')
      .argument('[flow...]', `${where} (default: all except archived ones)`)
      .option('--strict', 'exit status 1 if a text is missing, for CI')
      .option('--json', 'print a JSON array, one item per flow and language'),
  )
    .examples('cairn flows texts status', 'cairn flows texts status flows/*.yaml --strict')
    .action(async (named: string[], options: Flags<never, 'strict' | 'json'>, command: Command) => {
      const found = await flowsNamed(named, command)
      const rows = found.flatMap(flow =>
        coverageOf(flow).map(({ locale, translated, of, missing }) => ({
          flow: flow.key,
          from: flow.locale ?? null,
          locale,
          translated,
          texts: of,
          missing: missing.map(({ id }) => id),
        })),
      )
      const isWhole = rows.every(({ missing }) => missing.length === 0)
      if (options.strict && !isWhole) process.exitCode = 1
      if (options.json) return printJson(rows)
      printTable(
        ['flow', 'written in', 'language', 'texts', '', 'first missing'],
        rows.map(({ flow, from, locale, translated, texts, missing }) => [
          flow,
          from ?? '–',
          locale,
          `${translated} of ${texts}`,
          texts === 0 ? '–' : `${Math.floor((100 * translated) / texts)} %`,
          missing[0] ?? '–',
        ]),
        'no flow has texts in another language: start with "cairn flows texts export FLOW --locale de"',
      )
    })
}

function addExport(texts: Command): void {
  addTarget(
    texts
      .command('export')
      .description('export the texts of a flow for translation into one language')
      .argument('<flow>', where)
      .requiredOption('--locale <tag>', 'the language of the translations, such as de or pt-BR')
      .addOption(
        new Option('--format <format>', 'XLIFF 2.0, or flat JSON with translations only')
          .choices(sheetFormats)
          .default('xliff'),
      )
      .option('-o, --out <file>', 'write to a file instead of the standard output'),
  )
    .examples(
      'cairn flows texts export welcome --locale de -o welcome.de.xlf',
      'cairn flows texts export tour.yaml --locale fr --format json > welcome.fr.json',
    )
    .action(
      async (
        name: string,
        options: Flags<'out'> & { locale: string; format: SheetFormat },
        command: Command,
      ) => {
        const { locale, format, out } = options
        const problem = localeProblem(locale)
        if (problem !== null) throw new UsageFailure(`--locale: ${problem}`)
        const { flow } = await flowNamed(name, command)
        reporting(shown(name, 200), () => requireLocale(flow))
        const units = textUnits(flow)
        if (units.length === 0) throw new CommandFailure(`${flow.key} has no text to translate`)
        const sheet = sheetOf(flow, locale)
        const text = sheetText(sheet, format)
        if (out === undefined) print(text.replace(/\n$/, ''))
        else asUsers(() => replaceFile(out, text))
        const missing = sheet.entries.filter(({ target }) => target === null).length
        tell(`${counted(units.length, 'text')} of ${flow.key}, ${missing} not translated yet`)
      },
    )
}

type ImportOptions = Flags<'locale', 'dryRun' | 'json'> & {
  outdated: 'refuse' | 'skip' | 'take'
}

function addImport(texts: Command): void {
  addTarget(
    texts
      .command('import')
      .description(
        'import translations: into the draft of a flow, which pages do not show until it is ' +
          'published, or into its file, keeping comments; texts not translated in a file stay as they are',
      )
      .argument('<flow>', where)
      .argument('<file>', 'XLIFF or JSON from translators; "-" for the standard input')
      .option('--locale <tag>', 'their language, if the file does not name it: JSON never does')
      .addOption(
        new Option(
          '--outdated <how>',
          'if the flow has changed since the export: refuse all, or skip or take outdated texts; texts no longer in the flow are never taken',
        )
          .choices(['refuse', 'skip', 'take'])
          .default('refuse'),
      )
      .option('--dry-run', 'show what would change, and change nothing')
      .option('--json', 'print what was changed as JSON'),
  )
    .examples(
      'cairn flows texts import welcome welcome.de.xlf --dry-run',
      'cairn flows texts import tour.yaml welcome.fr.json --locale fr',
    )
    .action(async (name: string, path: string, options: ImportOptions, command: Command) => {
      const file = readTextFile(path)
      if ('problem' in file) throw new CommandFailure(`${file.name}: ${file.problem.message}`)
      const { locale, outdated, dryRun = false } = options
      const sheet = reporting(file.name, () => readSheet(file.text))
      const place = await flowNamed(name, command)
      const takesOutdated = outdated === 'take'
      const found = reporting(file.name, () =>
        importTexts(place.flow, sheet, { locale, takesOutdated }),
      )
      rejectOutdated(found, outdated, file.name)
      if (!dryRun && found.changed.length > 0) await changeTexts(place, found, command)
      if (options.json) return printJson(toJson(place.flow.key, found, dryRun))
      print(...lines(found))
      tell(summary(place.flow.key, found, dryRun))
    })
}

const maxShown = 20

/** @throws CommandFailure if texts are for another state of the flow, and that was not allowed */
function rejectOutdated(
  { outdated, superfluous }: TextImport,
  how: ImportOptions['outdated'],
  name: string,
): void {
  if (how !== 'refuse' || outdated.length + superfluous.length === 0) return
  const lines = [
    ...outdated.map(
      ({ unit, source }) => `  ${unit.id} was ${quoted(source)}, and is now ${quoted(unit.source)}`,
    ),
    ...superfluous.map(({ id, hint }) => `  ${quoted(id)} is not a text of the flow${hint}`),
  ]
  const more = lines.length > maxShown ? [`  … ${lines.length - maxShown} more`] : []
  const head = `${name}: nothing was changed, because the flow has changed since the export`
  const next =
    '--outdated skip takes only the rest, --outdated take also takes texts with a changed source'
  throw new CommandFailure([head, ...lines.slice(0, maxShown), ...more, next].join('\n'))
}

const lines = ({ changed }: TextImport) =>
  changed.flatMap(({ unit, before, after }) => [
    unit.id,
    ...(before === null ? [] : [`- ${onLine(before)}`]),
    `+ ${onLine(after)}`,
  ])

const onLine = (text: string) => text.trim().replace(/\s*\n\s*/g, ' ⏎ ')

function summary(key: string, found: TextImport, dryRun: boolean): string {
  const { changed, unchanged, untranslated, outdated, superfluous, locale } = found
  const counts = [
    `${changed.length} changed`,
    `${unchanged} as before`,
    ...(untranslated > 0 ? [`${untranslated} not translated`] : []),
    ...(outdated.length > 0 ? [`${outdated.length} outdated`] : []),
    ...(superfluous.length > 0 ? [`${superfluous.length} not in the flow`] : []),
  ]
  const end = dryRun ? '; nothing was written: run it without --dry-run to do it' : ''
  return `${key} in ${locale}: ${counts.join(', ')}${end}`
}

const toJson = (flow: string, found: TextImport, dryRun: boolean) => ({
  flow,
  locale: found.locale,
  dryRun,
  changed: found.changed.map(({ unit, before, after }) => ({ id: unit.id, before, after })),
  unchanged: found.unchanged,
  untranslated: found.untranslated,
  outdated: found.outdated.map(({ unit }) => unit.id),
  superfluous: found.superfluous.map(({ id }) => id),
})
