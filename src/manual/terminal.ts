import type { Token } from 'markdown-it'

/** Markdown as a terminal of 80 columns shows it, without colours: headings at the edge, all else below. */

const width = 80
const indent = '  '

/** Lines of at most so many columns; a longer word, such as an address, stands on one of its own. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1)
    const isRoom =
      last !== undefined && Bun.stringWidth(last) + 1 + Bun.stringWidth(word) <= columns
    if (isRoom) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** What stands behind the words of a link. */
function whereTo(href: string, words: string): string {
  if (href.startsWith('#') || words === href) return ''
  const [, topic] = /^([a-z-]+)\.md/.exec(href) ?? []
  return topic === undefined ? ` (${href.replace(/^(\.\.\/)+/, '')})` : ` ("cairn help ${topic}")`
}

function textOf(tokens: readonly Token[]): string {
  let text = ''
  const links: { href: string; from: number }[] = []
  for (const { type, content, attrs } of tokens) {
    if (type === 'text') text += content
    else if (type === 'code_inline') text += `\`${content}\``
    else if (type === 'softbreak' || type === 'hardbreak') text += ' '
    else if (type === 'link_open') {
      const [, href = ''] = attrs?.find(([name]) => name === 'href') ?? []
      links.push({ href: String(href), from: text.length })
    } else if (type === 'link_close') {
      const { href, from } = links.pop()!
      text += whereTo(href, text.slice(from))
    }
  }
  return text
}

/** Columns where they fit or the last can be wrapped; else a row is a list of its cells. */
function table(rows: readonly (readonly string[])[], columns: number): string[] {
  const [header = [], ...body] = rows
  const widths = header.map((_, at) => Math.max(...rows.map(row => Bun.stringWidth(row[at] ?? ''))))
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0)
  const lastWidth = Math.min(widths.at(-1) ?? 0, columns - before)
  if (lastWidth >= Math.min(widths.at(-1) ?? 0, 30)) {
    const ruled = [header, [...widths.slice(0, -1), lastWidth].map(each => '-'.repeat(each))]
    return [...ruled, ...body].flatMap(row => {
      const start = row
        .slice(0, -1)
        .map((cell, at) => cell + ' '.repeat(widths[at]! - Bun.stringWidth(cell)))
        .join('  ')
      const [first = '', ...rest] = wrapped(row.at(-1) ?? '', lastWidth)
      return [`${start}  ${first}`.trimEnd(), ...rest.map(line => ' '.repeat(before) + line)]
    })
  }
  return body.flatMap((row, at) => [
    ...(at === 0 ? [] : ['']),
    ...row.flatMap((cell, column) => {
      const name = header[column] ?? ''
      const text = column === 0 || name === '' ? cell : `${name}: ${cell}`
      const margin = column === 0 ? '' : indent
      return wrapped(text, columns - margin.length).map(line => margin + line)
    }),
  ])
}

/** Blocks from a token to the end of what it opens, with a blank line between them. */
class Blocks {
  private at = 0

  constructor(private readonly tokens: readonly Token[]) {}

  /** @param end the type that closes what these are in; null for the whole text */
  lines(columns: number, end: string | null): string[] {
    const lines: string[] = []
    const add = (block: readonly string[], isTight = false) => {
      if (lines.length > 0 && !isTight) lines.push('')
      lines.push(...block)
    }
    for (let token = this.next(); token && token.type !== end; token = this.next()) {
      if (token.type === 'heading_open') add(this.heading(token.tag))
      else if (token.type === 'inline') add(wrapped(textOf(token.children ?? []), columns))
      else if (token.type === 'fence') add(this.code(token))
      else if (token.type === 'table_open') add(table(this.rows(), columns))
      else if (token.type === 'bullet_list_open') add(this.list('bullet_list_close', columns))
      else if (token.type === 'ordered_list_open') add(this.list('ordered_list_close', columns))
    }
    return lines
  }

  private next(): Token | undefined {
    return this.tokens[this.at++]
  }

  private heading(tag: string): string[] {
    const words = textOf(this.next()?.children ?? [])
    // Marked for the edge, at which everything else does not stand.
    return [`\0${tag === 'h1' ? words.toUpperCase() : words}`]
  }

  private code({ content }: Token): string[] {
    return content
      .trimEnd()
      .split('\n')
      .map(line => (line === '' ? '' : indent + line))
  }

  private list(end: string, columns: number): string[] {
    const lines: string[] = []
    let number = 0
    for (let token = this.next(); token && token.type !== end; token = this.next()) {
      const mark = end.startsWith('ordered') ? `${++number}. ` : '- '
      const item = this.lines(columns - mark.length, 'list_item_close')
      lines.push(...item.map((line, at) => (at === 0 ? mark : ' '.repeat(mark.length)) + line))
    }
    return lines.map(line => line.trimEnd())
  }

  private rows(): string[][] {
    const rows: string[][] = []
    for (let token = this.next(); token && token.type !== 'table_close'; token = this.next()) {
      if (token.type === 'tr_open') rows.push([])
      else if (token.type === 'inline') rows.at(-1)?.push(textOf(token.children ?? []))
    }
    return rows
  }
}

/** A whole topic, or any Markdown, as lines that end with a line break each. */
export function terminalText(tokens: readonly Token[]): string {
  const lines = new Blocks(tokens).lines(width - indent.length, null)
  const placed = lines.map(line =>
    line.startsWith('\0') ? line.slice(1) : line === '' ? '' : indent + line,
  )
  return `${placed.join('\n')}\n`
}
