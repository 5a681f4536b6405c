const width = 80

/** A text in lines of at most 80 columns. The first begins with a mark, the others below its end. */
function wrapped(mark: string, text: string): string[] {
  const indent = ' '.repeat(mark.length)
  const lines = [mark]
  for (const word of text.trim().split(/\s+/)) {
    const last = lines.at(-1)!
    const isFirst = last === mark || last === indent
    const longer = isFirst ? last + word : `${last} ${word}`
    if (isFirst || Bun.stringWidth(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(indent + word)
  }
  return lines
}

/** Without the marks of bold text and links; a link to a topic becomes a command. */
const plain = (text: string) =>
  text
    .replace(/\*\*([^*]+)\*\*/g, '$1')
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, words: string, href: string) => {
      const [, topic] = /^([a-z-]+)\.md/.exec(href) ?? []
      if (topic !== undefined) return `${words} ("cairn help ${topic}")`
      return href.startsWith('#') || href === words ? words : `${words} (${href})`
    })

/** Columns if they fit, else a list of rows. */
function table(lines: readonly string[]): string[] {
  const rows = lines.map(line =>
    plain(line)
      .replace(/^\||\|$/g, '')
      .split('|'),
  )
  const cells = rows.map(row => row.map(cell => cell.trim()))
  const [header = [], , ...body] = cells
  const widths = header.map((_, at) =>
    Math.max(...[header, ...body].map(row => Bun.stringWidth(row[at] ?? ''))),
  )
  if (widths.reduce((sum, each) => sum + each + 2, -2) <= width) {
    return [header, ...body].map(row =>
      row
        .map((cell, at) => cell + ' '.repeat(widths[at]! - Bun.stringWidth(cell)))
        .join('  ')
        .trimEnd(),
    )
  }
  const heading = header[0] ? [`${header[0]}:`] : []
  const items = body.flatMap(([first = '', ...others]) => [
    ...wrapped('- ', first),
    ...others.flatMap((cell, at) => {
      const name = header[at + 1] ? `${header[at + 1]}: ` : ''
      return wrapped('    ', `${name}${cell}`)
    }),
  ])
  return [...heading, ...items]
}

/** Markdown as a terminal of 80 columns shows it, without colours. */
export function terminalText(markdown: string): string {
  const blocks = markdown.trim().split(/(^```[^\n]*\n[\s\S]*?^```$|(?:^\|.*\n)+)/m)
  const lines = blocks.flatMap(block => {
    if (block.startsWith('```')) {
      return block
        .split('\n')
        .slice(1, -1)
        .map(line => (line === '' ? '' : `  ${line}`))
    }
    if (block.startsWith('|')) return table(block.trim().split('\n'))
    return block.split('\n').flatMap(line => {
      if (line.startsWith('![')) return []
      const [, marks, heading = ''] = /^(#+) (.*)/.exec(line) ?? []
      if (marks) return [marks === '#' ? plain(heading).toUpperCase() : plain(heading)]
      const [mark = ''] = /^ *(?:- |\d+\. )?/.exec(line) ?? []
      return wrapped(mark, plain(line.slice(mark.length)))
    })
  })
  return `${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`
}
