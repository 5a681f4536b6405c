import { withEscapes } from '../../text/unseen.ts'
import type { TextSheet } from './sheet.ts'

/** Files for translators as XLIFF, which their programs read and write. */

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes characters that XML would read as markup. */
const escaped = (text: string) => text.replace(/[&<>"]/g, char => entities[char]!)

const reference = (char: string) => `&#x${char.codePointAt(0)!.toString(16)};`

/** Characters that XML 1.0 cannot represent: they are left out. */
const unwritable = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g

/** Invisible characters are written as references, so that no editor loses them. */
const content = (text: string) => withEscapes(escaped(text).replace(unwritable, ''), reference)

/** XLIFF 2.0 (OASIS standard), or 1.2, which older programs read. */
export function xliffText({ flow, from, to, entries }: TextSheet, version: '2.0' | '1.2'): string {
  const isOld = version === '1.2'
  const name = (text: string | null) => escaped(text ?? '')
  const unit = ({ id, source, target, note }: TextSheet['entries'][number]) => {
    const noteText = content(note ?? '')
    const own = `<source>${content(source ?? '')}</source>`
    const state = target === null ? (isOld ? 'needs-translation' : 'initial') : 'translated'
    const targetText = target === null ? '' : content(target)
    if (isOld) {
      return `      <trans-unit id="${name(id)}" xml:space="preserve">
        ${own}
        <target state="${state}">${targetText}</target>
        <note>${noteText}</note>
      </trans-unit>`
    }
    const shown = target === null ? '' : `\n        <target>${targetText}</target>`
    return `    <unit id="${name(id)}">
      <notes><note>${noteText}</note></notes>
      <segment state="${state}">
        ${own}${shown}
      </segment>
    </unit>`
  }
  const units = entries.map(unit).join('\n')
  if (isOld) {
    return `<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">
  <file original="${name(flow)}" source-language="${name(from)}" target-language="${name(to)}" datatype="plaintext">
    <body>
${units}
    </body>
  </file>
</xliff>
`
  }
  return `<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="${name(from)}" trgLang="${name(to)}">
  <file id="${name(flow)}" canResegment="no" xml:space="preserve">
${units}
  </file>
</xliff>
`
}
