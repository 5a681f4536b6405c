import type { ParsedYaml } from './yaml.ts'

/** Why a text is not YAML, or not JSON, and where. */
export interface SyntaxProblem {
  offset: number
  message: string
}

const misaligned =
  'The indentation does not match: align this with its neighbours, inside its parent'
const anywhere = 'Not valid YAML here: check quotes, brackets and indentation'

/**
 * What to do about common mistakes, by the library's code and message, which names internals of the library.
 * The first that fits counts.
 */
const advice: readonly (readonly [RegExp, string])[] = [
  [/ Unexpected flow-(?:seq|map)-end token/, 'This bracket closes nothing: remove it'],
  [/ Block scalar header/, 'The text of "|" or ">" begins on the next line: move this there'],
  [/ Sequence item without -/, misaligned],
  [/^TAB_AS_INDENT/, 'A tab cannot indent YAML: use spaces'],
  [/^BAD_INDENT/, misaligned],
  [/^MISSING_CHAR/, 'A colon, comma, quote or closing bracket is missing: add it'],
  [
    /^BAD_DQ_ESCAPE/,
    'Unknown escape in double quotes: write \\\\ for a backslash, or use single quotes',
  ],
  [/^BAD_SCALAR_START/, 'Text cannot begin with this character: put it in quotes'],
  [/^BLOCK_AS_IMPLICIT_KEY/, 'A second colon on one line: put the text in quotes'],
  [/^BLOCK_IN_FLOW/, 'A comma is missing between two fields here: add it'],
  [
    /^MULTILINE_IMPLICIT_KEY/,
    'A field is written "name: value" on one line: add the colon, or indent',
  ],
  [/^KEY_OVER_1024_CHARS/, 'A field name is over 1024 characters: put the text in quotes'],
  [/^BAD_ALIAS/, 'Text cannot begin with "&" or "*", which name anchors: put it in quotes'],
  [/^ALIAS_PROPS/, 'An alias (*name) stands alone: remove the anchor or tag before it'],
  [/^MULTIPLE_ANCHORS/, 'A value can have one anchor (&name): remove the others'],
  [/^TAG_RESOLVE_FAILED/, 'Tags (!name) mean nothing here: remove it, or put the text in quotes'],
  [/^BAD_DIRECTIVE/, 'This directive (%NAME) is unknown: remove the line'],
]

/** Only the first problem, because after it the parser guesses and what it reports is noise. */
export function yamlProblem({ text, documents, unclosed }: ParsedYaml): SyntaxProblem | null {
  const errors = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])
  const [first, ...others] = errors.toSorted((a, b) => a.pos[0] - b.pos[0])
  if (first === undefined) return null
  const offset = first.pos[0]
  if (unclosed !== null && unclosed <= offset) return unclosedProblem(text, unclosed)
  const names = [first, ...others.filter(({ pos }) => pos[0] === offset)].map(({ code }) => code)
  const before = text.slice(0, offset).trimEnd().at(-1)
  if (names.includes('BLOCK_AS_IMPLICIT_KEY') && names.includes('MULTILINE_IMPLICIT_KEY')) {
    // The library takes the next line for a part of this value.
    const [gap = ''] = /\n\s*/.exec(text.slice(offset)) ?? []
    const message =
      'This is indented further than the line above, whose field already has a value: align it'
    return { offset: text.indexOf(gap, offset) + gap.length, message }
  }
  if (/ Unexpected \S+ at node end/.test(` ${first.message}`)) {
    const inside = before === '"' ? '\\"' : "''"
    const message =
      before === '"' || before === "'"
        ? `The quotes end before this: inside them, write ${inside} for ${before}`
        : 'A comma is missing before this: add it'
    return { offset, message }
  }
  if (/^[\w.-]+:[^\s:]/.test(text.slice(offset, offset + 70))) {
    return { offset, message: 'A space is missing after the colon: write "name: value"' }
  }
  const code = text[offset - 1] === '\t' ? 'TAB_AS_INDENT' : first.code
  const found = advice.find(([mistake]) => mistake.test(`${code} ${first.message}`))
  return { offset, message: found?.[1] ?? anywhere }
}

/** A bracket or a quote that nothing closes. The library reports it far behind its place, or not at all. */
function unclosedProblem(text: string, offset: number): SyntaxProblem {
  const opening = text[offset]!
  const closing = { '[': ']', '{': '}' }[opening]
  if (closing === undefined) {
    return { offset, message: `This ${opening} is not closed: add the closing one` }
  }
  const isCut = /^[^\n]*\s#/.test(text.slice(offset))
  const hint = isCut ? '; what follows " #" is a comment, so put such text in quotes' : ''
  return { offset, message: `This "${opening}" is not closed: add "${closing}"${hint}` }
}

const jsonToken =
  /[\s\uFEFF]+|"(?:[^"\\\0-\x1F]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\]:]|,(?!\s*[}\]])/y

/** YAML accepts nearly all JSON, and more, but a JSON file has to be JSON. */
export function jsonProblem(parsed: ParsedYaml): SyntaxProblem | null {
  const { text } = parsed
  const problem = yamlProblem(parsed)
  if (text.trim() === '') return null
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''))
    return problem
  } catch {
    // The engine does not say where. It is where no JSON token begins. If every token is valid, their order
    // is wrong, and the YAML parser has found that.
  }
  const message = 'Not valid JSON here: check quotes and commas, and remove comments'
  jsonToken.lastIndex = 0
  let offset = 0
  while (offset < text.length && jsonToken.test(text)) offset = jsonToken.lastIndex
  if (offset < text.length || problem === null) return { offset, message }
  return problem.message === anywhere ? { ...problem, message } : problem
}
