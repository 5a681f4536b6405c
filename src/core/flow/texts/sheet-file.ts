import { quoted } from '../../text/wording.ts'
import {
  maxEntries,
  maxSheetLength,
  type SheetFormat,
  SheetProblem,
  type TextSheet,
} from './sheet.ts'
import { readXliff, xliffText } from './xliff.ts'

/** A sheet as a file. JSON contains only translations; an untranslated text is empty there. */
export function sheetText(sheet: TextSheet, format: SheetFormat): string {
  if (format !== 'json') return xliffText(sheet)
  const texts = sheet.entries.map(({ id, target }) => [id, target ?? ''])
  return `${JSON.stringify(Object.fromEntries(texts), null, 2)}\n`
}

/** The file name ending of a format, and its media type for browsers. */
export const sheetFileType = (format: SheetFormat) =>
  format === 'json'
    ? { ending: 'json', type: 'application/json' }
    : { ending: 'xlf', type: 'application/xliff+xml' }

/**
 * Reads a file for translators as XLIFF or JSON, depending on its content.
 *
 * @throws SheetProblem with what to do about it
 */
export function readSheet(text: string): TextSheet {
  if (text.length > maxSheetLength)
    throw new SheetProblem('it is over 4 MiB: import one flow at a time')
  const plain = text.replace(/^\uFEFF/, '')
  if (/^\s*</.test(plain)) return readXliff(plain)
  return { flow: null, from: null, to: null, entries: entriesIn(plain) }
}

function entriesIn(text: string): TextSheet['entries'] {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    throw new SheetProblem('it is neither valid XLIFF nor valid JSON')
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw new SheetProblem('it must be a JSON object such as {"steps.hello.title": "Hallo"}')
  }
  const entries = Object.entries(read as Record<string, unknown>)
  if (entries.length > maxEntries) throw new SheetProblem(`there are more than ${maxEntries} texts`)
  return entries.map(([id, target]) => {
    if (typeof target !== 'string' && target !== null) {
      throw new SheetProblem(`${quoted(id)} must be a text: nothing can be nested`)
    }
    return { id, source: null, target: target?.trim() ? target : null }
  })
}
