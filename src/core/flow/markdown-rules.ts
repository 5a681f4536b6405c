import MarkdownIt, { type Env, type Token } from 'markdown-it'
import { quoted } from '../text/wording.ts'
import { errorIf, type LintRule, warnIf } from './lint-rule.ts'
import { isHarmlessLink } from './values.ts'

/** An HTML tag, as opposed to an address or a comparison such as "a < b". */
const tag =
  /<\/?(?:a|abbr|b|blockquote|br|button|center|code|div|em|font|h[1-6]|hr|i|iframe|img|input|kbd|li|mark|ol|p|pre|s|script|small|span|strong|style|sub|sup|svg|table|tbody|td|th|tr|u|ul|video)(?:\s[^<>]*)?\/?>/i

/** What to do about a tag in Markdown, which would be shown as text; null if there is none. */
export function htmlIn(markdown: string): string | null {
  // Text between backticks, one or three, is code; only pairs of them enclose something.
  const pieces = markdown.split('`')
  for (let index = 0; index < pieces.length; index += 2) {
    const [found] = tag.exec(pieces[index]!) ?? []
    if (found !== undefined) {
      return `${quoted(found)} will be shown as it stands, because this is Markdown: write **bold**, *italic*, [text](/link) or lists instead`
    }
  }
  return null
}

// The parser's own check for harmless links would hide the others, and its encoding would disguise them.
const parser = new MarkdownIt()
parser.validateLink = () => true
parser.normalizeLink = link => link

/**
 * What to do about a link or image in Markdown that a page must not follow, or null. Links are found as
 * CommonMark does, with entities and escapes resolved, so that no spelling of a scheme hides one.
 */
export function unsafeLinkIn(markdown: string): string | null {
  // Without these characters there is no scheme, or nothing that leads anywhere, so most texts need no
  // parsing.
  if (!/[:&]/.test(markdown) || !/\][(:]|</.test(markdown)) return null
  for (const link of linksIn(markdown)) {
    if (isHarmlessLink(link)) continue
    return `The link ${quoted(link)} is not one that a page may follow: write one that begins with http:, https:, mailto: or tel:, or a relative one such as /help`
  }
  return null
}

/** Where links, images and definitions lead, including definitions that nothing refers to. */
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

/** The rules about a text that is shown as Markdown. */
export const markdownRules = <Part>(
  place: string,
  textIn: (part: Part) => string,
): LintRule<Part>[] => [
  errorIf(`unsafe_link ${place}`, part => unsafeLinkIn(textIn(part))),
  warnIf(`html ${place}`, part => htmlIn(textIn(part))),
]
