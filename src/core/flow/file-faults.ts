import { CST, type ErrorCode } from 'yaml'
import type { ParsedYaml } from './yaml.ts'

/** Why a text is not YAML, or not JSON, and where. */
export interface Fault {
  offset: number
  message: string
}

/** An error of the library. Its message quotes the file and names internals of the library. */
interface Raw {
  code: ErrorCode
  message: string
  offset: number
}

const misaligned =
  'The indentation does not fit: line this up with its neighbours, inside its parent'

/** What to do about common mistakes that the library's codes tell apart. */
const advice: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'A tab cannot indent YAML: use spaces',
  BAD_INDENT: misaligned,
  MISSING_CHAR: 'A colon, comma, quote or closing bracket is missing: add it',
  BAD_DQ_ESCAPE:
    'Unknown escape in double quotes: write \\\\ for a backslash, or use single quotes',
  BAD_SCALAR_START: 'Text cannot begin with this character: put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'A second colon on one line: put the text in quotes',
  BLOCK_IN_FLOW: 'A comma is missing between two fields here: add it',
  MULTILINE_IMPLICIT_KEY: 'A field is written "name: value" on one line: add the colon, or indent',
  KEY_OVER_1024_CHARS: 'A field name is over 1024 characters: put the text in quotes',
  BAD_ALIAS: 'Text cannot begin with "&" or "*", which name anchors: put it in quotes',
  ALIAS_PROPS: 'An alias (*name) stands alone: remove the anchor or tag before it',
  MULTIPLE_ANCHORS: 'A value can have one anchor (&name): remove the others',
  TAG_RESOLVE_FAILED: 'Tags (!name) mean nothing here: remove it, or put the text in quotes',
  BAD_DIRECTIVE: 'This directive (%NAME) is not known: remove the line',
}

const anywhere = 'Not valid YAML here: check quotes, brackets and indentation'

/** Better messages for mistakes that share one code of the library, or that it notices far behind their place. */
const closer: ((raw: Raw, parsed: ParsedYaml) => Fault | null)[] = [
  ({ code, offset }, { text }) =>
    code === 'BAD_INDENT' && text[offset - 1] === '\t'
      ? { offset, message: advice.TAB_AS_INDENT as string }
      : null,

  ({ message, offset }, parsed) =>
    /^Flow (?:map|sequence) .*end with a /.test(message) ? unclosedBracket(offset, parsed) : null,

  ({ message, offset }, parsed) =>
    message.startsWith('Missing closing') ? unclosedQuote(offset, parsed) : null,

  // The library takes the next field for a part of what the bracket holds.
  ({ code, offset }, parsed) =>
    code === 'MULTILINE_IMPLICIT_KEY' || code === 'MISSING_CHAR'
      ? unclosedBracket(offset, parsed)
      : null,

  ({ message, offset }, { text }) => {
    const found = /^Unexpected flow-(?:seq|map)-end token/.test(message)
    return found ? { offset, message: `This "${text[offset]}" closes nothing: remove it` } : null
  },

  ({ message, offset }, { text }) => {
    if (!/^Unexpected \S+ at node end/.test(message)) return null
    const behind = text.slice(0, offset).trimEnd().at(-1)
    if (behind === "'" || behind === '"') {
      const inside = behind === '"' ? '\\"' : "''"
      return {
        offset,
        message: `The quotes have ended before this: inside them, write ${inside} for ${behind}`,
      }
    }
    return { offset, message: 'A comma is missing before this: add it' }
  },

  ({ message, offset }) =>
    message.startsWith('Block scalar header')
      ? { offset, message: 'The text of "|" or ">" begins on the next line: move this there' }
      : null,

  ({ message, offset }) =>
    message.startsWith('Sequence item without -') ? { offset, message: misaligned } : null,

  ({ code, offset }, { text, documents }) => {
    // The library takes the next line for a part of this value.
    const isBoth = rawFaults(documents).some(
      other => other.offset === offset && other.code === 'MULTILINE_IMPLICIT_KEY',
    )
    if (code !== 'BLOCK_AS_IMPLICIT_KEY' || !isBoth) return null
    const [gap = ''] = /\n\s*/.exec(text.slice(offset)) ?? []
    const next = text.indexOf(gap, offset) + gap.length
    const message =
      'This stands further in than the line above, whose field has its value already: line it up'
    return { offset: next, message }
  },

  ({ code, offset }, { text }) =>
    code === 'MULTILINE_IMPLICIT_KEY' && /^[\w.-]+:[^\s:]/.test(text.slice(offset, offset + 70))
      ? { offset, message: 'A space is missing behind the colon: write "name: value"' }
      : null,
]

/** The last bracket that was opened before something that does not fit. */
function unclosedBracket(before: number, { text, tokens }: ParsedYaml): Fault | null {
  const closing: Record<string, string> = { '[': ']', '{': '}' }
  const open = scalarsAndCollections(tokens)
    .filter(token => token.type === 'flow-collection' && token.start.offset < before)
    .map(token => token as CST.FlowCollection)
    .filter(({ start, end }) => !end.some(({ source }) => source === closing[start.source]))
  const last = open.reduce<CST.FlowCollection | null>(
    (last, one) => (last && last.start.offset > one.start.offset ? last : one),
    null,
  )
  if (last === null) return null
  const { offset, source } = last.start
  const isCut = /^[^\n]*\s#/.test(text.slice(offset))
  const hint = isCut ? '; what follows " #" is a comment, so put such text in quotes' : ''
  return { offset, message: `This "${source}" is not closed: add "${closing[source]}"${hint}` }
}

/** Quoted text that runs to the end of the file. */
function unclosedQuote(before: number, { tokens }: ParsedYaml): Fault | null {
  const quoted = scalarsAndCollections(tokens).findLast(
    ({ type, offset }) => /-quoted-scalar$/.test(type) && offset < before,
  )
  if (!quoted) return null
  const quote = quoted.type.startsWith('single') ? "'" : '"'
  return { offset: quoted.offset, message: `This ${quote} is not closed: add the closing one` }
}

/** Only for a file whose depth is known to be small. In the file's order, except within brackets. */
function scalarsAndCollections(tokens: readonly CST.Token[]): CST.Token[] {
  const found: CST.Token[] = []
  for (const token of tokens) {
    if (token.type !== 'document') continue
    CST.visit(token, ({ key, value }) => {
      for (const part of [key, value]) if (part) found.push(part)
    })
  }
  return found
}

const rawFaults = (documents: ParsedYaml['documents']): Raw[] =>
  documents.flatMap(({ errors, warnings }) =>
    [...errors, ...warnings].map(({ code, message, pos }) => ({ code, message, offset: pos[0] })),
  )

/** Only the first fault, because after it the parser guesses and what it reports is noise. */
export function yamlFault(parsed: ParsedYaml): Fault | null {
  const first = rawFaults(parsed.documents).reduce<Raw | null>(
    (first, raw) => (first && first.offset <= raw.offset ? first : raw),
    null,
  )
  if (first === null) return null
  for (const explain of closer) {
    const fault = explain(first, parsed)
    if (fault !== null) return fault
  }
  return { offset: first.offset, message: advice[first.code] ?? anywhere }
}

const jsonToken =
  /[\s\uFEFF]+|"(?:[^"\\\0-\x1F]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\]:]|,(?!\s*[}\]])/y

/** YAML accepts nearly all JSON, and more, but a JSON file has to be JSON. */
export function jsonFault(parsed: ParsedYaml): Fault | null {
  const { text } = parsed
  if (text.trim() === '') return null
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''))
    return yamlFault(parsed)
  } catch {
    // The engine does not say where. It is where no JSON token begins. If every token is valid, their order
    // is wrong, and the YAML parser has found that.
  }
  const fault = yamlFault(parsed)
  const message = 'Not valid JSON here: check quotes and commas, and remove comments'
  jsonToken.lastIndex = 0
  let offset = 0
  while (offset < text.length && jsonToken.test(text)) offset = jsonToken.lastIndex
  if (offset < text.length || fault === null) return { offset, message }
  return fault.message === anywhere ? { ...fault, message } : fault
}
