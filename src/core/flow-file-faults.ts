import type { Document, ErrorCode } from 'yaml'

/** Why a text is not YAML, or not JSON, and where. */
export interface Fault {
  offset: number
  message: string
}

/** The library's messages quote the file and name its own insides, so the common ones are ours. */
const advice: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'A tab cannot indent YAML: use spaces',
  BAD_INDENT: 'The indentation does not fit: line this up with its neighbours, inside its parent',
  MISSING_CHAR: 'A colon, comma, quote or closing bracket is missing: add it',
  BAD_DQ_ESCAPE:
    'Unknown escape in double quotes: write \\\\ for a backslash, or use single quotes',
  BAD_SCALAR_START: 'Text cannot begin with this character: put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'A second colon on one line: put the text in quotes',
  MULTILINE_IMPLICIT_KEY: 'A field is written "name: value" on one line: add the colon, or indent',
  KEY_OVER_1024_CHARS: 'A field name is over 1024 characters: put the text in quotes',
  MULTIPLE_ANCHORS: 'A value can have one anchor (&name): remove the others',
  TAG_RESOLVE_FAILED: 'Tags (!name) mean nothing here: remove it',
  BAD_DIRECTIVE: 'This directive (%NAME) is not known: remove the line',
}

/** The first fault alone: after it the parser guesses, and what it says is noise. */
export function yamlFault(documents: Document.Parsed[]): Fault | null {
  let first: Fault | null = null
  for (const { errors, warnings } of documents) {
    for (const { code, pos } of [...errors, ...warnings]) {
      if (first !== null && first.offset <= pos[0]) continue
      const message = advice[code] ?? 'Not valid YAML here: check quotes, brackets and indentation'
      first = { offset: pos[0], message }
    }
  }
  return first
}

const jsonToken =
  /[\s\uFEFF]+|"(?:[^"\\\0-\x1F]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\]:]|,(?!\s*[}\]])/y

/** YAML takes nearly all JSON, and more; a JSON file has to be JSON. */
export function jsonFault(text: string, documents: Document.Parsed[]): Fault | null {
  if (text.trim() === '') return null
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''))
    return yamlFault(documents)
  } catch {
    // The engine does not say where. It is where no token of JSON begins; and where every token is
    // one, it is their order that is wrong, and the YAML parser has found that.
  }
  jsonToken.lastIndex = 0
  let offset = 0
  while (offset < text.length && jsonToken.test(text)) offset = jsonToken.lastIndex
  if (offset === text.length) offset = yamlFault(documents)?.offset ?? offset
  return { offset, message: 'Not valid JSON here: check quotes and commas, and remove comments' }
}
