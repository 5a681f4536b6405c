/** Control characters except line feed and tab, line and paragraph separators, direction marks, tags. */
const unseen =
  /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\u2060\uFEFF\uFFFE\uFFFF\u{E0000}-\u{E007F}]/u

const everyUnseen = new RegExp(unseen, 'gu')

/** Whether a text has characters that are invisible, move a terminal's cursor, or reverse the text around them. */
export const hasUnseen = (text: string): boolean => unseen.test(text)

/** The JSON escape of a character: `\u202e`, or two of these outside the basic plane. */
const escaped = (char: string) =>
  char
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/**
 * Replaces invisible characters by escapes. The value of JSON stays the same, because it can only have such
 * characters within its texts.
 */
export const withEscapes = (text: string, escapeOf = escaped): string =>
  hasUnseen(text) ? text.replace(everyUnseen, escapeOf) : text

/** The same for a text that has to stay on one line. */
export const onOneLine = (text: string): string =>
  withEscapes(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
