/** Controls but for line feed and tab, line and paragraph separators, what turns text around, tags. */
const unseen =
  /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\u2060\uFEFF\uFFFE\uFFFF\u{E0000}-\u{E007F}]/u

const everyUnseen = new RegExp(unseen, 'gu')

/**
 * Whether a text has characters that cannot be seen, or that would move a terminal's cursor or turn the
 * text around them.
 */
export const hasUnseen = (text: string): boolean => unseen.test(text)

/** As JSON writes a character that stands in no string as it is: `\u202e`, of others two of these. */
const escaped = (char: string) =>
  char
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/**
 * Escapes in place of what cannot be seen. JSON stays the same in value: it has such characters in its
 * texts alone.
 */
export const withEscapes = (text: string, escapeOf = escaped): string =>
  hasUnseen(text) ? text.replace(everyUnseen, escapeOf) : text

/** The same of a text that is to stay on its line. */
export const onOneLine = (text: string): string =>
  withEscapes(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
