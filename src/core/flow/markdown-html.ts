import { quoted } from '../text/wording.ts'

/** A tag of HTML, and not an address or a comparison such as "a < b". */
const tag =
  /<\/?(?:a|abbr|b|blockquote|br|button|center|code|div|em|font|h[1-6]|hr|i|iframe|img|input|kbd|li|mark|ol|p|pre|s|script|small|span|strong|style|sub|sup|svg|table|tbody|td|th|tr|u|ul|video)(?:\s[^<>]*)?\/?>/i

/** What to do about a tag in Markdown, where it is shown as text; null where there is none. */
export function htmlIn(markdown: string): string | null {
  // Between backticks, of one or three, it is code; and only pairs of them enclose something.
  const pieces = markdown.split('`')
  for (let index = 0; index < pieces.length; index += 2) {
    const [found] = tag.exec(pieces[index]!) ?? []
    if (found !== undefined) {
      return `${quoted(found)} will be shown as it stands, because this is Markdown: write **bold**, *italic*, [text](/link) or lists instead`
    }
  }
  return null
}
