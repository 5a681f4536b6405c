import { type TLiteral, type TProperties, type TSchema, type TUnion, Type } from '@sinclair/typebox'

/** Schemas of the kinds of values that flows consist of. */

/** A schema of exactly these strings, each with its meaning. Every choice in a flow is one. */
export const oneOf = <Word extends string>(meanings: Record<Word, string>, options = {}) =>
  Type.Union(
    Object.entries<string>(meanings).map(([word, description]) =>
      Type.Literal(word, { description }),
    ),
    options,
  ) as unknown as TUnion<TLiteral<Word>[]>

/** Null if an author does not set it. */
export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], { default: null, ...(description && { description }) })

/** A mapping of these fields and no others. */
export const closed = <Fields extends TProperties>(fields: Fields, options = {}) =>
  Type.Object(fields, { additionalProperties: false, ...options })

// Means the same with the u flag and without, because some schema validators set it and some do not.
const wellFormed =
  '^(?![\\s\\S]*(?:\\u0000|[\\uD800-\\uDBFF](?![\\uDC00-\\uDFFF])' +
  '|(?<![\\uD800-\\uDBFF])[\\uDC00-\\uDFFF]))'

/** A key that begins with another character would hide its file, or look like an option of a command. */
export const keyPattern = '^[A-Za-z0-9][A-Za-z0-9._-]*$'

/** Schemes that a browser follows without running what they lead to. */
const linkSchemes = ['http', 'https', 'mailto', 'tel']

/** Makes a word case-insensitive, because a pattern in a schema has no flag for that. */
const inAnyCase = (word: string) => word.replace(/[a-z]/g, a => `[${a.toUpperCase()}${a}]`)

/**
 * Where a button or an item leads. A colon before the first slash ends a scheme (RFC 3986, 4.2), and only
 * harmless schemes are accepted. Browsers drop leading spaces, and tabs and line breaks anywhere, before
 * they look for the scheme, so a link may contain none of these.
 */
const linkPattern =
  `${wellFormed}(?![\\s\\S]*[\\u0000-\\u001F\\u007F])(?!\\s)` +
  `(?:(?:${linkSchemes.map(inAnyCase).join('|')}):|(?![^/?#]*:))`

/** A page: its path, or its whole address. Browsers read `//` and `/\\` as the beginning of a host. */
const addressPattern =
  `${wellFormed}(?![\\s\\S]*[\\u0000-\\u001F\\u007F])` +
  `(?:/(?![/\\\\])|(?:${['http', 'https'].map(inAnyCase).join('|')})://[^/?#\\\\])`

/** Whether a link may be followed, whatever white space and control characters a browser would drop. */
export const isHarmlessLink = (link: string) =>
  new RegExp(linkPattern).test(link.replace(/[\s\p{Cc}]/gu, '').toWellFormed())

/**
 * Functions of CSS Color 5 that make a colour, and `var` for the page's own colours. None of them loads
 * anything.
 */
const colourFunctions = [
  ...['rgb', 'rgba', 'hsl', 'hsla', 'hwb', 'lab', 'lch', 'oklab', 'oklch'],
  ...['color', 'color-mix', 'light-dark', 'var'],
]

/**
 * A hex colour, a word, or one of these functions with plain arguments, so that a colour can neither end
 * the CSS rule that it is put into nor contain an address.
 */
export const colourPattern =
  '^(?:#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|[A-Za-z]+|' +
  `(?:${colourFunctions.map(inAnyCase).join('|')})\\((?!.*//)[A-Za-z0-9 .,%/+_-]*\\))$`

/** A font's name in quotes may have letters of any script, but nothing that has a meaning in CSS. */
const quotedFont = '[^"\'\\\\;{}()<>/*@:,\\u0000-\\u001F\\u007F\\u2028\\u2029]+'
const fontWord = '-?[A-Za-z_][A-Za-z0-9_-]*'
const font = `(?:${fontWord}(?: ${fontWord})*|"${quotedFont}"|'${quotedFont}')`

/**
 * Names of fonts, separated by commas. Such a list can neither end the CSS rule it is put into nor load
 * anything.
 */
const fontPattern = `${wellFormed}${font}(?: ?, ?${font})*$`

/** The author's own machine, where a server without TLS is tried out. */
const loopback = 'http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?=[:/])'

/** Like links, except that nothing is loaded unencrypted over a network. */
const imagePattern =
  `${wellFormed}(?![\\s\\S]*[\\u0000-\\u001F\\u007F])(?!\\s)` +
  `(?:${inAnyCase('https')}://|${loopback}|(?![^/?#]*:)(?![/\\\\]{2}))`

const sha256Pattern = '^[0-9a-f]{64}$'

/** A day, or a day with a time, without a time zone. */
const localTimePattern =
  '^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9])?$'

const timeSpanPattern = '^[1-9][0-9]{0,5}[mhd]$'

const zonePattern = '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$'

/** What a text must be, as the rest of a sentence after "Must be", for each pattern. */
export const patternsInWords: Readonly<Record<string, string>> = {
  [wellFormed]: 'well-formed Unicode text without NUL',
  [keyPattern]: 'letters, digits, ".", "_" and "-", with a letter or a digit first',
  [linkPattern]:
    'a link that begins with http:, https:, mailto: or tel:, or a relative one such as /help, ' +
    'without a space before it or control characters in it',
  [addressPattern]: 'an address that begins with / or https://, without control characters',
  [colourPattern]: 'a CSS colour such as #1f6feb or rgb(31 111 235)',
  [fontPattern]:
    'names of fonts with commas between, such as "Inter", sans-serif; of letters, digits, "-" and ' +
    'spaces, and in quotes where they have others',
  [imagePattern]:
    'an address that begins with https://, or a relative one such as /logo.svg, without a space ' +
    'before it or control characters in it',
  [sha256Pattern]: 'a SHA-256 of 64 hex digits, in lower case',
  [localTimePattern]: 'a day such as 2026-12-01 or a time such as 2026-12-01T09:00',
  [timeSpanPattern]: 'a number and m, h or d, such as 30m, 24h or 7d',
  [zonePattern]: 'the IANA name of a time zone, such as Europe/Berlin or UTC',
}

/**
 * Text that every store and every JSON parser returns unchanged: no NUL, and no half of a surrogate pair.
 * Lengths count UTF-16 units, as the schema library and browsers do.
 */
export const text = (minLength: number, maxLength: number, options = {}) =>
  Type.String({ minLength, maxLength, pattern: wellFormed, ...options })

/** The author's own name for a flow, step or item. It stays the same over versions. */
export const key = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, pattern: keyPattern, description })

/** The page's name for something that happened. */
export const eventName = (options = {}) => text(1, 64, options)

export const link = text(1, 2_048, { pattern: linkPattern })

/** The address of a page of the site. */
export const address = (description: string) =>
  text(1, 2_048, { pattern: addressPattern, description })

const colourText = { maxLength: 64, pattern: colourPattern }

export const colour = (description: string) => nullable(Type.String(colourText), description)

/** A colour that is absent if it is not set. */
export const optionalColour = (description: string) =>
  Type.Optional(Type.String({ ...colourText, description }))

/** A list of fonts, as `font-family` takes it. */
export const fontFamily = (description: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: fontPattern, description })

/** The address of an image, or of another file that a step shows. */
export const imageLink = (description: string) =>
  Type.String({ minLength: 1, maxLength: 2_048, pattern: imagePattern, description })

/** A SHA-256 in hex. */
export const sha256 = (description: string) =>
  Type.String({ pattern: sha256Pattern, maxLength: 64, description })

/** A day or a time on local clocks. */
export const localTime = (description: string) =>
  Type.String({ pattern: localTimePattern, maxLength: 16, description })

/** A length of time: minutes, hours or days. */
export const timeSpan = (description: string) =>
  Type.String({ pattern: timeSpanPattern, maxLength: 7, description })

/** The IANA name of a time zone; UTC if none is given. */
export const zoneName = (description: string) =>
  Type.String({ pattern: zonePattern, maxLength: 64, default: 'UTC', description })
