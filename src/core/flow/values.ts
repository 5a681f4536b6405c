import { type TLiteral, type TProperties, type TSchema, type TUnion, Type } from '@sinclair/typebox'

/** The kinds of values that flows are made of, as schemas. */

/** A schema of exactly these strings, each with what it means; every choice in a flow is one. */
export const oneOf = <Word extends string>(meanings: Record<Word, string>, options = {}) =>
  Type.Union(
    Object.entries<string>(meanings).map(([word, description]) =>
      Type.Literal(word, { description }),
    ),
    options,
  ) as unknown as TUnion<TLiteral<Word>[]>

/** Null where an author says nothing. */
export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], { default: null, ...(description && { description }) })

/** A mapping of these fields and no others. */
export const closed = <Fields extends TProperties>(fields: Fields, options = {}) =>
  Type.Object(fields, { additionalProperties: false, ...options })

// Says the same with the u flag and without: some schema validators set it, some do not.
const wellFormed =
  '^(?![\\s\\S]*(?:\\u0000|[\\uD800-\\uDBFF](?![\\uDC00-\\uDFFF])' +
  '|(?<![\\uD800-\\uDBFF])[\\uDC00-\\uDFFF]))'

const keyPattern = '^[A-Za-z0-9._-]+$'

/** A key that begins otherwise hides its file, or is taken for an option of a command. */
const newKeyPattern = '^[A-Za-z0-9][A-Za-z0-9._-]*$'

/**
 * The pattern by which a file is read: stricter than what is stored where the rules have become
 * stricter since, so that what was pushed before goes on working.
 */
export const authoredPattern = (pattern: string) =>
  pattern === keyPattern ? newKeyPattern : pattern

/** Schemes that a browser follows without running what stands behind them. */
const linkSchemes = ['http', 'https', 'mailto', 'tel']

/** A pattern has no flag for it. */
const inAnyCase = (word: string) => word.replace(/[a-z]/g, a => `[${a.toUpperCase()}${a}]`)

/**
 * Where a button or an item leads. A colon before the first slash ends a scheme (RFC 3986, 4.2),
 * and only the harmless ones are taken. Browsers drop leading spaces, and tabs and line breaks
 * anywhere, before they look for the scheme: so a link may have none of these.
 */
const linkPattern =
  `${wellFormed}(?![\\s\\S]*[\\u0000-\\u001F\\u007F])(?!\\s)` +
  `(?:(?:${linkSchemes.map(inAnyCase).join('|')}):|(?![^/?#]*:))`

/** Whether a link may be followed, whatever white space and control characters a browser drops. */
export const isHarmlessLink = (link: string) =>
  new RegExp(linkPattern).test(link.replace(/[\s\p{Cc}]/gu, '').toWellFormed())

/** Functions of CSS Color 5 that make a colour, and a colour of the page's own: nothing that loads. */
const colourFunctions = [
  ...['rgb', 'rgba', 'hsl', 'hsla', 'hwb', 'lab', 'lch', 'oklab', 'oklch'],
  ...['color', 'color-mix', 'light-dark', 'var'],
]

/**
 * A hex colour, a word, or a function of these with plain arguments: a colour can then never end the
 * rule it is put in, nor name an address.
 */
const colourPattern =
  '^(?:#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|[A-Za-z]+|' +
  `(?:${colourFunctions.map(inAnyCase).join('|')})\\((?!.*//)[A-Za-z0-9 .,%/+_-]*\\))$`

const sha256Pattern = '^[0-9a-f]{64}$'

/** What a text has to be, to stand after "Must be", by the pattern that says it to machines. */
export const patternsInWords: Readonly<Record<string, string>> = {
  [wellFormed]: 'well-formed Unicode text without NUL',
  [newKeyPattern]: 'letters, digits, ".", "_" and "-", with a letter or a digit first',
  [linkPattern]:
    'a link that begins with http:, https:, mailto: or tel:, or a relative one such as /help, ' +
    'without a space before it or control characters in it',
  [colourPattern]: 'a CSS colour such as #1f6feb or rgb(31 111 235)',
  [sha256Pattern]: 'a SHA-256 of 64 hex digits, in lower case',
}

/**
 * Text that every store and every JSON parser gives back as it was: no NUL, no half of a surrogate
 * pair. Lengths count UTF-16 units, as the schema library and the browser do.
 */
export const text = (minLength: number, maxLength: number, options = {}) =>
  Type.String({ minLength, maxLength, pattern: wellFormed, ...options })

/** The author's own name for a flow, a step or an item; it stays the same over versions. */
export const key = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, pattern: keyPattern, description })

/** What the page calls something that happened. */
export const eventName = (options = {}) => text(1, 64, options)

export const link = text(1, 2_048, { pattern: linkPattern })

export const colour = (description: string) =>
  nullable(Type.String({ maxLength: 64, pattern: colourPattern }), description)

/** A SHA-256 in hex. */
export const sha256 = (description: string) =>
  Type.String({ pattern: sha256Pattern, maxLength: 64, description })
