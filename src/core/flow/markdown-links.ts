import MarkdownIt, { type Env, type Token } from 'markdown-it'
import { quoted } from '../text/wording.ts'
import { isHarmlessLink } from './values.ts'

// The parser's own idea of harmless links would hide the others, and its encoding what they are.
const parser = new MarkdownIt()
parser.validateLink = () => true
parser.normalizeLink = link => link

/**
 * What to do about a link or image in Markdown that a page must not follow, or null. Found as
 * CommonMark has it, entities and escapes resolved, so that no spelling of a scheme hides it.
 */
export function unsafeLinkIn(markdown: string): string | null {
  // Without these there is no scheme, or nothing that leads anywhere: most texts need no parsing.
  if (!/[:&]/.test(markdown) || !/\][(:]|</.test(markdown)) return null
  for (const link of linksIn(markdown)) {
    if (isHarmlessLink(link)) continue
    return `The link ${quoted(link)} is not one that a page may follow: write one that begins with http:, https:, mailto: or tel:, or a relative one such as /help`
  }
  return null
}

/** Where links, images and definitions lead, the definitions that nothing refers to included. */
function* linksIn(markdown: string): Iterable<string> {
  const found: Env = {}
  yield* linksOf(parser.parse(markdown, found))
  for (const { href } of Object.values(found.references ?? {})) yield href
}

function* linksOf(tokens: readonly Token[]): Iterable<string> {
  for (const token of tokens) {
    const link = token.attrGet('href') ?? token.attrGet('src')
    if (link !== null) yield String(link)
    yield* linksOf(token.children ?? [])
  }
}
