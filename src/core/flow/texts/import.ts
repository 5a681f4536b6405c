import { didYouMean, quoted } from '../../text/wording.ts'
import type { FlowDefinition } from '../flow.ts'
import { at, type LocaleTexts, type Path, withAt } from './fields.ts'
import { localeFault } from './locale-fault.ts'
import { SheetFault, type TextSheet } from './sheet.ts'
import { type TextUnit, textUnits, translationOf } from './units.ts'

/** A text that an import gives a flow. */
export interface ImportedText {
  unit: TextUnit
  /** Null where there was none. */
  before: string | null
  after: string
}

/** What an import would make of a flow. */
export interface TextImport {
  locale: string
  changed: ImportedText[]
  /** How many are in the file and in the flow alike. */
  unchanged: number
  /** How many the file has not translated. */
  untranslated: number
  /** Translations of what the flow has changed since the file was made. */
  outdated: { unit: TextUnit; source: string; after: string }[]
  /** Translations of texts that the flow does not have, each with what was probably meant. */
  superfluous: { id: string; hint: string }[]
  /** The texts of the language afterwards, of what is changed and neither outdated nor superfluous. */
  texts: LocaleTexts
}

/** How spaces at a line's end or between lines may come back from a translator's program. */
const folded = (text: string) => text.replace(/\s+/g, ' ').trim()

/**
 * What a file for translators would change in a flow. A translation that the file lacks is kept.
 *
 * @param locale where the file does not say it
 * @param takesOutdated whether translations of what has changed since count too
 * @throws SheetFault where the file is of another flow or language
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

/** Texts of a language with one more, whatever of the way there is missing; an empty one is taken out. */
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

/** Without what is empty: no mapping of nothing, no list of nulls. */
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

/** @throws SheetFault */
function localeFor(flow: FlowDefinition, sheet: TextSheet, asked: string | undefined): string {
  if (sheet.flow !== null && sheet.flow !== flow.key) {
    throw new SheetFault(
      `it has texts of the flow ${quoted(sheet.flow)}, not of ${quoted(flow.key)}`,
    )
  }
  const own = requireLocale(flow)
  if (sheet.from !== null && sheet.from.toLowerCase() !== own.toLowerCase()) {
    throw new SheetFault(
      `it was translated from ${quoted(sheet.from)}, and the flow is written in ${quoted(own)}`,
    )
  }
  const to = asked ?? sheet.to
  if (to === null) throw new SheetFault('it does not say its language: say it, as in --locale de')
  if (asked !== undefined && sheet.to !== null && asked.toLowerCase() !== sheet.to.toLowerCase()) {
    throw new SheetFault(`its texts are in ${quoted(sheet.to)}, not in ${quoted(asked)}`)
  }
  requireTarget(flow, to)
  return to
}

/** The language that a flow is written in. @throws SheetFault where it does not say it */
export function requireLocale({ key, locale }: FlowDefinition): string {
  if (locale !== undefined) return locale
  throw new SheetFault(
    `the flow ${quoted(key)} does not say in which language it is written: add "locale: en", or whichever, to it`,
  )
}

/** @throws SheetFault where translations cannot be in that language */
function requireTarget({ locale }: FlowDefinition, to: string): void {
  const fault = localeFault(to)
  if (fault !== null) throw new SheetFault(fault)
  if (to === locale) {
    throw new SheetFault(
      `the flow itself is written in ${quoted(to)}: change its texts where it has them`,
    )
  }
}
