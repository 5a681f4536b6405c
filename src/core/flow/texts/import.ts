import { didYouMean, quoted } from '../../text/wording.ts'
import type { FlowDefinition } from '../flow.ts'
import { at, type LocaleTexts, type Path, withAt } from './fields.ts'
import { localeProblem } from './locale.ts'
import { SheetProblem, type TextSheet } from './sheet.ts'
import { type TextUnit, textUnits, translationOf } from './units.ts'

/** A text that an import would put into a flow. */
export interface ImportedText {
  unit: TextUnit
  /** Null if there was none. */
  before: string | null
  after: string
}

/** What an import would change about a flow. */
export interface TextImport {
  locale: string
  changed: ImportedText[]
  /** How many are the same in the file and in the flow. */
  unchanged: number
  /** How many have no translation in the file. */
  untranslated: number
  /** Translations of texts that have changed in the flow since the file was made. */
  outdated: { unit: TextUnit; source: string; after: string }[]
  /** Translations of texts that the flow does not have, each with a guess what was meant. */
  superfluous: { id: string; hint: string }[]
  /**
   * The texts of the language after the import: with what is changed, but without what is outdated or
   * superfluous.
   */
  texts: LocaleTexts
}

/** Evens out white space, which a translator's program may change at line ends or between lines. */
const folded = (text: string) => text.replace(/\s+/g, ' ').trim()

/**
 * What a file for translators would change in a flow. A translation that the file lacks is kept.
 *
 * @param locale for files that do not name their language
 * @param takesOutdated whether to accept translations of texts that have changed since
 * @throws SheetProblem if the file belongs to another flow or language
 */
export function importTexts(
  flow: FlowDefinition,
  sheet: TextSheet,
  { locale, takesOutdated = false }: { locale?: string | undefined; takesOutdated?: boolean } = {},
): TextImport {
  const to = localeFor(flow, sheet, locale)
  const units = new Map(textUnits(flow).map(unit => [unit.id, unit]))
  const before = flow.texts && Object.hasOwn(flow.texts, to) ? flow.texts[to] : undefined
  const result: TextImport = {
    locale: to,
    changed: [],
    unchanged: 0,
    untranslated: 0,
    outdated: [],
    superfluous: [],
    texts: before ?? {},
  }
  for (const { id, source, target } of sheet.entries) {
    const unit = units.get(id)
    if (target === null) result.untranslated++
    else if (!unit) result.superfluous.push({ id, hint: didYouMean(id, [...units.keys()]) })
    else {
      const isOld = source !== null && folded(source) !== folded(unit.source)
      if (isOld) result.outdated.push({ unit, source, after: target })
      if (isOld && !takesOutdated) continue
      const was = translationOf(before, unit)
      if (was === target) result.unchanged++
      else {
        result.changed.push({ unit, before: was, after: target })
        result.texts = withText(result.texts, unit.path, target)
      }
    }
  }
  return result
}

/** The texts of a language with one more text; missing mappings are added. An empty text is removed. */
export function withText(texts: LocaleTexts, path: Path, text: string | null): LocaleTexts {
  const put = (value: unknown, way: Path): unknown => {
    const [name, ...rest] = way
    if (name === undefined) return text ?? undefined
    if (typeof name !== 'number') return withAt(value ?? {}, [name], put(at(value, [name]), rest))
    const list = Array.isArray(value) ? [...value] : []
    while (list.length < name) list.push(null)
    list[name] = text
    return list
  }
  return (pruned(put(texts, path)) ?? {}) as LocaleTexts
}

/** Removes what is empty: mappings without fields, and lists of nulls. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) {
    const last = value.findLastIndex(one => one !== null)
    return last < 0 ? undefined : value.slice(0, last + 1)
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, one]) => {
    const kept = pruned(one)
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** @throws SheetProblem */
function localeFor(flow: FlowDefinition, sheet: TextSheet, requested: string | undefined): string {
  if (sheet.flow !== null && sheet.flow !== flow.key) {
    throw new SheetProblem(
      `it has texts of the flow ${quoted(sheet.flow)}, not of ${quoted(flow.key)}`,
    )
  }
  const own = requireLocale(flow)
  if (sheet.from !== null && sheet.from.toLowerCase() !== own.toLowerCase()) {
    throw new SheetProblem(
      `it was translated from ${quoted(sheet.from)}, and the flow is written in ${quoted(own)}`,
    )
  }
  const to = requested ?? sheet.to
  if (to === null)
    throw new SheetProblem(
      'it does not name its language: choose one with --locale, such as --locale de',
    )
  if (
    requested !== undefined &&
    sheet.to !== null &&
    requested.toLowerCase() !== sheet.to.toLowerCase()
  ) {
    throw new SheetProblem(`its texts are in ${quoted(sheet.to)}, not in ${quoted(requested)}`)
  }
  requireTarget(flow, to)
  return to
}

/** The language that a flow is written in. @throws SheetProblem if the flow does not say */
export function requireLocale({ key, locale }: FlowDefinition): string {
  if (locale !== undefined) return locale
  throw new SheetProblem(
    `the flow ${quoted(key)} does not name its language: add "locale: en", or another tag, to it`,
  )
}

/** @throws SheetProblem if translations cannot be in that language */
function requireTarget({ locale }: FlowDefinition, to: string): void {
  const problem = localeProblem(to)
  if (problem !== null) throw new SheetProblem(problem)
  if (to === locale) {
    throw new SheetProblem(
      `the flow itself is written in ${quoted(to)}: change its texts where it has them`,
    )
  }
}
