import MarkdownIt, { type Token } from 'markdown-it'
import { brandOf } from '../brand/bundle.ts'
import { packed } from '../core/text/packed.ts'
import alertRules from './alerts.yaml' with { type: 'text' }
import { configurationTable } from './configuration-table.ts'
import { grafanaDashboard } from './grafana.ts'
import { pageOf, type Section, type Topic } from './page.ts'
import { terminalText } from './terminal.ts'
import { sources } from './topics.ts'

/**
 * Makes the manual's two forms, HTML and the terminal's text, from its Markdown. Runs while Cairn is
 * built (and, from the sources, when the importing file is loaded): the executable holds the results
 * and reads no Markdown of the manual.
 */

const parser = new MarkdownIt({ html: false })

/** As GitHub makes them, so that a link works there too. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** The words of an inline token, without their form. */
const wordsOf = (token: Token): string =>
  (token.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' || type === 'hardbreak' ? ' ' : content))
    .join('')

/** The same as HTML of which only code has a form. */
const plainHtmlOf = (token: Token | undefined): string =>
  (token?.children ?? [])
    .map(({ type, content }) => {
      const text = Bun.escapeHTML(content)
      if (type === 'code_inline') return `<code>${text}</code>`
      return type === 'softbreak' ? ' ' : text
    })
    .join('')

/** Where a link leads from a topic's page; null for a file that only the repository has. */
function addressOf(href: string): string | null {
  if (/^(https?:|#)/.test(href)) return href
  // A path of the server that the page comes from, which may lie below a proxy's.
  if (href.startsWith('/')) return `..${href}`
  const [, topic, anchor = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? []
  return topic === undefined ? null : topic + anchor
}

const { rules } = parser.renderer
rules.table_open = () => '<div class="wide"><table>\n'
rules.table_close = () => '</table></div>\n'
rules.file_open = () => '<span class="file">'
rules.file_close = (tokens, at) =>
  ` (<code>${parser.utils.escapeHtml(tokens[at]!.content)}</code>)</span>`

/** A picture in a light and a dark form, of which the page's style shows the one that fits. */
rules.image = (tokens, at) => {
  const token = tokens[at]!
  const [, name] = /^pictures\/([a-z-]+)-light\.webp$/.exec(String(token.attrGet('src'))) ?? []
  const alt = parser.utils.escapeHtml(token.content)
  const form = (appearance: string) =>
    `<img class="in-${appearance}" src="${name}-${appearance}.webp" alt="${alt}" loading="lazy">`
  return form('light') + form('dark')
}

/** Has links lead where they do from a topic's page; what only the repository has is named instead. */
function placeLinks(tokens: readonly Token[]): void {
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'link_open') continue
    const href = String(token.attrGet('href'))
    const address = addressOf(href)
    if (address !== null) {
      token.attrSet('href', address)
      continue
    }
    const close = tokens.slice(at).find(({ type }) => type === 'link_close')!
    token.type = 'file_open'
    close.type = 'file_close'
    close.content = href.replace(/^(\.\.\/)+/, '')
  }
}

/** Readies tokens for a page: places for links to lead to, and a name for each cell of a table. */
function prepareForPage(tokens: readonly Token[]): void {
  let columns: string[] = []
  let column = 0
  for (const [at, token] of tokens.entries()) {
    const { type } = token
    const words = () => wordsOf(tokens[at + 1]!)
    if (type === 'heading_open') token.attrSet('id', anchorOf(words()))
    else if (type === 'table_open') columns = []
    else if (type === 'th_open') columns.push(words())
    else if (type === 'tr_open') column = 0
    // On a narrow screen, where cells stand below each other, each says what it is.
    else if (type === 'td_open') token.attrSet('data-column', columns[column++] ?? '')
    placeLinks(token.children ?? [])
  }
}

/** A topic's text by its headings, without form. */
function sectionsOf(tokens: readonly Token[]): Section[] {
  const sections: Section[] = []
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const heading = wordsOf(tokens[at + 1]!)
      sections.push({ heading, anchor: token.tag === 'h1' ? '' : anchorOf(heading), text: '' })
      return
    }
    const last = sections.at(-1)
    const isHeading = tokens[at - 1]?.type === 'heading_open'
    if (!last || isHeading) return
    const text =
      token.type === 'inline' ? wordsOf(token) : token.type === 'fence' ? token.content : ''
    if (text !== '') last.text += `${last.text && ' '}${text.replace(/\s+/g, ' ').trim()}`
  })
  return sections
}

function topicOf(name: string, group: string, source: string): Topic {
  const markdown = source.replace('<!-- configuration -->', configurationTable().join('\n'))
  const tokens = parser.parse(markdown, {})
  const [title, summary] = tokens.filter(({ type }) => type === 'inline')
  const topic = {
    name,
    group,
    title: title ? wordsOf(title) : '',
    summary: plainHtmlOf(summary),
    sections: sectionsOf(tokens),
    terminal: terminalText(markdown),
  }
  prepareForPage(tokens)
  return { ...topic, html: parser.renderer.render(tokens, parser.options, {}) }
}

/** All topics, in their order. */
export const compiledManual = (): Topic[] =>
  Object.entries(sources).flatMap(([group, topics]) =>
    Object.entries(topics).map(([name, source]) => topicOf(name, group, source)),
  )

/** What the terminal shows, by the topic's name. */
export type TopicTexts = Record<string, { title: string; text: string }>

export const packedTexts = (): string =>
  packed(
    Object.fromEntries(
      compiledManual().map(({ name, title, terminal }) => [name, { title, text: terminal }]),
    ),
  )

/**
 * The page that lists the topics, the page of each by its name, the one for a name that is no topic's, the
 * script that search reads, and what operators download.
 */
export interface ManualPages {
  index: string
  missing: string
  search: string
  alertRules: string
  grafana: string
  topics: Record<string, string>
}

export function packedPages(): string {
  const topics = compiledManual()
  const font = brandOf().fonts.latin
  const entries = topics.flatMap(({ name, title, sections }) =>
    sections.map(({ heading, anchor, text }) => [name, title, heading, anchor, text]),
  )
  const pages: ManualPages = {
    index: pageOf(topics, null, font),
    missing: pageOf(topics, 'missing', font),
    topics: Object.fromEntries(topics.map(topic => [topic.name, pageOf(topics, topic, font)])),
    alertRules,
    grafana: JSON.stringify(grafanaDashboard(), null, 2),
    search: `export default ${JSON.stringify(entries)}\n`,
  }
  return packed(pages)
}
