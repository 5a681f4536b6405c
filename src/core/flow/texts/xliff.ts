import { SaxesParser } from 'saxes'
import { withEscapes } from '../../text/unseen.ts'
import { quoted } from '../../text/wording.ts'
import { maxEntries, type SheetEntry, SheetProblem, type TextSheet } from './sheet.ts'

/** Files for translators as XLIFF, which their programs read and write. */

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes characters that XML would read as markup. */
const escaped = (text: string) => text.replace(/[&<>"]/g, char => entities[char]!)

const reference = (char: string) => `&#x${char.codePointAt(0)!.toString(16)};`

/** Characters that XML 1.0 cannot represent: they are left out. */
const unwritable = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g

/** Invisible characters are written as references, so that no editor loses them. */
const content = (text: string) => withEscapes(escaped(text).replace(unwritable, ''), reference)

/** XLIFF 2.0 (OASIS standard). */
export function xliffText({ flow, from, to, entries }: TextSheet): string {
  const name = (text: string | null) => escaped(text ?? '')
  const units = entries.map(({ id, source, target, note }) => {
    const state = target === null ? 'initial' : 'translated'
    const translation = target === null ? '' : `\n        <target>${content(target)}</target>`
    return `    <unit id="${name(id)}">
      <notes><note>${content(note ?? '')}</note></notes>
      <segment state="${state}">
        <source>${content(source ?? '')}</source>${translation}
      </segment>
    </unit>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="${name(from)}" trgLang="${name(to)}">
  <file id="${name(flow)}" canResegment="no" xml:space="preserve">
${units.join('\n')}
  </file>
</xliff>
`
}

const deepest = 50

/** Elements that contain texts which are not the unit's: proposals, and notes of tools. */
const aside = new Set(['notes', 'matches', 'glossary', 'metadata'])
/** Marks that a tool puts around words. Their content is kept. */
const around = new Set(['mrk', 'pc'])

/** A unit while it is being read, segment by segment. */
interface Reading {
  id: string
  source: string
  target: string
  /** Whether a segment with something to translate has no translation. */
  isIncomplete: boolean
  hasTarget: boolean
}

/**
 * Reads XLIFF 2.x, whatever program wrote it. Only XML's own five entities are resolved, and
 * document types are rejected, so that a file can neither refer to another file nor expand.
 *
 * The `xliff` package keeps only the last segment of a unit, drops what marks surround, and says no place.
 *
 * @throws SheetProblem
 */
export function readXliff(text: string): TextSheet {
  const sheet: TextSheet = { flow: null, from: null, to: null, entries: [] }
  const open: string[] = []
  let files = 0
  let asideAt = 0
  let unit: Reading | null = null
  let segment = { source: '', target: null as string | null }
  let into: 'source' | 'target' | null = null
  const known = new Set<string>()
  const parser = new SaxesParser({ xmlns: true, position: true })
  const problem = (message: string) => new SheetProblem(`line ${parser.line}: ${message}`)

  parser.on('error', error => {
    throw new SheetProblem(
      `invalid XML: ${error.message.replace(/^\d+:\d+: /, `line ${parser.line}: `)}`,
    )
  })
  parser.on('doctype', () => {
    throw problem('a document type (<!DOCTYPE …>) is not allowed: remove it')
  })

  const beginUnit = (id: string | undefined) => {
    if (unit) throw problem(`a unit is nested in ${quoted(unit.id)}: use the exported file`)
    if (!id) throw problem('a unit has no id: use the exported file')
    if (known.has(id)) throw problem(`the unit ${quoted(id)} is repeated: keep one`)
    if (known.size >= maxEntries) throw problem(`there are more than ${maxEntries} units`)
    known.add(id)
    unit = { id, source: '', target: '', isIncomplete: false, hasTarget: false }
    segment = { source: '', target: null }
  }
  const endSegment = (isIgnorable: boolean) => {
    if (!unit) return
    const { source, target } = segment
    const isTranslated = target !== null && (target !== '' || source === '')
    unit.source += source
    // Text between segments is the same in both languages, unless the file says otherwise.
    unit.target += isTranslated ? target : isIgnorable ? source : ''
    unit.hasTarget ||= isTranslated && !isIgnorable
    unit.isIncomplete ||= !isTranslated && !isIgnorable && source.trim() !== ''
    segment = { source: '', target: null }
  }
  const endUnit = () => {
    const { id, source, target, isIncomplete, hasTarget } = unit!
    if (isIncomplete && hasTarget)
      throw problem(`the unit ${quoted(id)} is only partly translated: finish it`)
    const isTranslated = hasTarget && target.trim() !== ''
    const entry: SheetEntry = { id, source, target: isTranslated ? target : null }
    sheet.entries.push(entry)
    unit = null
  }

  parser.on('opentag', ({ local, attributes }) => {
    const value = (name: string) => attributes[name]?.value
    open.push(local)
    if (open.length > deepest) throw problem(`more than ${deepest} levels deep`)
    if (open.length === 1) {
      if (local !== 'xliff' || !/^2\.\d$/.test(value('version') ?? '')) {
        throw problem('not XLIFF 2: export a file and have that translated')
      }
      sheet.from = value('srcLang') ?? null
      sheet.to = value('trgLang') ?? null
    }
    if (asideAt > 0) return
    if (aside.has(local)) asideAt = open.length
    else if (local === 'file') {
      if (++files > 1) throw problem('it contains several files: import one flow at a time')
      sheet.flow = value('id') ?? null
    } else if (local === 'unit') beginUnit(value('id'))
    else if (unit && (local === 'source' || local === 'target')) {
      into = local
      if (local === 'target') segment.target = ''
    } else if (into && !around.has(local)) {
      throw problem(
        `<${local}> is not allowed in a text, such as that of ${quoted(unit!.id)}: remove it`,
      )
    }
  })

  const take = (text: string) => {
    if (asideAt > 0) return
    if (into === 'source') segment.source += text
    else if (into === 'target') segment.target += text
  }
  parser.on('text', take)
  parser.on('cdata', take)

  parser.on('closetag', ({ local }) => {
    const depth = open.length
    open.pop()
    if (asideAt > 0) {
      if (asideAt === depth) asideAt = 0
    } else if (local === into) into = null
    else if (local === 'segment' || local === 'ignorable') endSegment(local === 'ignorable')
    else if (local === 'unit') endUnit()
  })

  parser.write(text).close()
  return sheet
}
