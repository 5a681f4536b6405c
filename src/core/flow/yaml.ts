import { Composer, CST, type Document, Lexer, type LineCounter, Parser } from 'yaml'

/** A parsed text, whatever is wrong with it. */
export interface ParsedYaml {
  text: string
  documents: readonly Document.Parsed[]
  /** The offset of the innermost bracket or quote that is opened and never closed; null if there is none. */
  unclosed: number | null
}

/** Why a text is not parsed, and where it goes too far. */
export interface YamlExcess {
  excess: 'too_large' | 'too_deep' | 'too_many_tokens'
  offset: number
  message: string
}

const maxBytes = 1_048_576
const maxDepth = 20
/** The library takes 2 to 6 µs for each token, whatever the text. */
const maxTokens = 250_000
/** Only the first fault is reported. The few after it may explain it; the rest only take time. */
const maxProblems = 20

const utf8 = new TextEncoder()

/**
 * Parses a text as YAML, within bounds on what the library makes of it, so that no text takes longer than a
 * second. Repeated fields are not looked for, because the library compares each field with every other one.
 */
export function parseYaml(text: string, lines: LineCounter): ParsedYaml | YamlExcess {
  const excess = (excess: YamlExcess['excess'], offset: number, message: string) => ({
    ...{ excess, offset, message },
  })
  if (text.length > maxBytes || utf8.encode(text).byteLength > maxBytes) {
    return excess('too_large', 0, 'The file is over 1 MiB: split it into several')
  }
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens: CST.Token[] = []
  const pairs = new Pairs()
  let count = 0
  let problems = 0
  for (const lexeme of new Lexer().lex(text)) {
    pairs.take(lexeme, parser.offset)
    for (const token of parser.next(lexeme)) {
      tokens.push(token)
      if (token.type === 'error') problems++
    }
    if (problems >= maxProblems) break
    // Looked at on the way, because to read on takes ever longer with depth. Nothing else could exhaust the
    // stack of the composer, which recurses.
    const tooDeep =
      parser.stack.length > maxDepth
        ? parser.stack.filter(token => CST.isCollection(token))[maxDepth]
        : undefined
    if (tooDeep) {
      const message = `More than ${maxDepth} levels deep: no flow needs that, flatten it`
      return excess('too_deep', tooDeep.offset, message)
    }
    if (++count > maxTokens) {
      const message = `More than ${maxTokens} tokens, such as names, values, brackets and line ends: split the file into several`
      return excess('too_many_tokens', parser.offset, message)
    }
  }
  tokens.push(...parser.end())
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false })
  const documents = [...composer.compose(tokens, true, text.length)]
  return { text, documents, unclosed: pairs.unclosed }
}

/** Matches brackets and quotes while a text is read. */
class Pairs {
  private open: { end: string; offset: number }[] = []
  private found: number | null = null
  private isPlainText = false

  get unclosed(): number | null {
    return this.found ?? this.open.at(-1)?.offset ?? null
  }

  take(lexeme: string, offset: number): void {
    const type = this.isPlainText ? null : CST.tokenType(lexeme)
    this.isPlainText = type === 'scalar'
    if (type === 'flow-map-start') this.open.push({ end: '}', offset })
    else if (type === 'flow-seq-start') this.open.push({ end: ']', offset })
    else if (this.open.at(-1)?.end === lexeme) this.open.pop()
    else if (type === 'flow-error-end') {
      this.found ??= this.unclosed
      this.open = []
    } else if (type?.endsWith('-quoted-scalar') && !/^(["'])[\s\S]*\1$/.test(lexeme)) {
      this.found ??= offset
    }
  }
}
