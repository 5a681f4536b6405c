import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { isElsewhere, safeHref } from './links.ts'

/**
 * Markdown (CommonMark with tables and strikethrough) as nodes. No text ever becomes HTML: what looks
 * like HTML is shown as it was written, so that a page's policy on scripts and Trusted Types holds.
 */
export function markdownNodes(text: string, page: Window): Node[] {
  const { document } = page

  const element = (name: string, children: readonly Token[] = []): HTMLElement => {
    const made = document.createElement(name)
    made.append(...children.flatMap(nodesOf))
    return made
  }

  const link = ({ href, tokens }: Tokens.Link): Node => {
    const made = element('a', tokens) as HTMLAnchorElement
    const safe = safeHref(href, page)
    if (safe === null) return made
    made.href = safe
    if (isElsewhere(safe, page)) {
      made.target = '_blank'
      made.rel = 'noopener noreferrer'
    }
    return made
  }

  const image = ({ href, text: description }: Tokens.Image): Node => {
    const safe = safeHref(href, page)
    if (!safe?.startsWith('http')) return document.createTextNode(description)
    const made = document.createElement('img')
    made.src = safe
    made.alt = description
    made.loading = 'lazy'
    return made
  }

  const list = ({ ordered, start, items }: Tokens.List): Node => {
    const made = document.createElement(ordered ? 'ol' : 'ul')
    if (ordered && typeof start === 'number') made.setAttribute('start', `${start}`)
    made.append(...items.map(item => element('li', item.tokens)))
    return made
  }

  const table = ({ header, rows }: Tokens.Table): Node => {
    const row = (cells: Tokens.TableCell[], name: 'th' | 'td') => {
      const made = document.createElement('tr')
      made.append(...cells.map(cell => element(name, cell.tokens)))
      return made
    }
    const made = document.createElement('table')
    made.append(row(header, 'th'), ...rows.map(cells => row(cells, 'td')))
    return made
  }

  const code = (name: string, content: string) => {
    const made = document.createElement(name)
    made.textContent = content
    return made
  }

  const nodesOf = (untyped: Token): Node[] => {
    const token = untyped as MarkedToken
    switch (token.type) {
      case 'paragraph':
        return [element('p', token.tokens)]
      case 'heading':
        // The step's title is the first heading.
        return [element(`h${Math.min(token.depth + 2, 6)}`, token.tokens)]
      case 'strong':
      case 'em':
      case 'del':
      case 'blockquote':
        return [element(token.type, token.tokens)]
      case 'link':
        return [link(token)]
      case 'image':
        return [image(token)]
      case 'list':
        return [list(token)]
      case 'table':
        return [table(token)]
      case 'codespan':
        return [code('code', token.text)]
      case 'code':
        return [code('pre', token.text)]
      case 'br':
      case 'hr':
        return [document.createElement(token.type)]
      case 'space':
      case 'def':
        return []
      case 'text':
        if (token.tokens) return token.tokens.flatMap(nodesOf)
        return [document.createTextNode(token.text)]
      case 'escape':
        return [document.createTextNode(token.text)]
      default:
        return [document.createTextNode(token.raw)]
    }
  }

  try {
    return Lexer.lex(text).flatMap(nodesOf)
  } catch {
    // Nested deeper than a browser can follow.
    return [document.createTextNode(text)]
  }
}
