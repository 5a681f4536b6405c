import { siteHead, siteHeader } from '../brand/header.ts'

/** A part of a topic under a heading of its own, as the search finds it. */
export interface Section {
  heading: string
  /** Of its heading in the page; empty for what stands above the first one. */
  anchor: string
  text: string
}

export interface Topic {
  name: string
  /** The group that it stands in. */
  group: string
  title: string
  /** Its first paragraph as HTML, without links. */
  summary: string
  /** What stands in its page, with addresses relative to that page. */
  html: string
  sections: Section[]
  /** Wrapped to 80 columns, without codes. */
  terminal: string
}

const escaped = (text: string) => Bun.escapeHTML(text)

/** A list of the topics in their groups; `shown` is the one whose page it stands on. */
function contents(topics: readonly Topic[], base: string, shown: Topic | null): string {
  const groups = Map.groupBy(topics, ({ group }) => group)
  return [...groups]
    .map(([group, ofGroup]) => {
      const items = ofGroup.map(topic => {
        const current = topic === shown ? ' aria-current="page"' : ''
        return `<li><a href="${base}${topic.name}"${current}>${escaped(topic.title)}</a></li>`
      })
      return `<h2 class="group">${escaped(group)}</h2>\n<ul>${items.join('\n')}</ul>`
    })
    .join('\n')
}

/** The way to the topics before and behind. */
function neighbours(topics: readonly Topic[], shown: Topic): string {
  const at = topics.indexOf(shown)
  const link = (topic: Topic | undefined, rel: string) =>
    topic ? `<a rel="${rel}" href="${topic.name}">${escaped(topic.title)}</a>` : '<span></span>'
  return `<nav class="neighbours" aria-label="Neighbours">${link(topics[at - 1], 'prev')}${link(topics[at + 1], 'next')}</nav>`
}

const search = `<search hidden>
<input type="search" placeholder="Search the manual" aria-label="Search the manual" aria-controls="found" autocomplete="off" spellcheck="false">
<div id="found" aria-live="polite" hidden></div>
</search>`

/**
 * A page of the manual as a whole. All addresses are relative, so that a proxy may put Cairn below a
 * path of its own.
 *
 * @param shown the topic of the page, at `docs/<name>`; null for the list of all, at `docs`; or 'missing'
 *   for the page at a name that no topic has
 * @param font the file's name of the font that is loaded first
 */
export function pageOf(
  topics: readonly Topic[],
  shown: Topic | 'missing' | null,
  font: string,
): string {
  const topic = shown === 'missing' ? null : shown
  const base = shown ? '' : 'docs/'
  const root = shown ? '../' : ''
  const api = `${root}api/v1`
  const title = shown === 'missing' ? 'There is no such page' : 'Cairn’s manual'
  const about =
    shown === 'missing'
      ? 'These are the topics of the manual:'
      : `Each topic also stands in the terminal: <code>cairn help deploy</code>. The API describes itself <a href="${api}/docs">on a page of its own</a>.`
  const list = topics.map(
    ({ name, title, summary }) =>
      `<li><a href="${base}${name}">${escaped(title)}</a><p class="summary">${summary}</p></li>`,
  )
  const body = topic
    ? `<article>\n${topic.html}</article>\n${neighbours(topics, topic)}`
    : `<article class="all">\n<h1>${title}</h1>\n<p>${about}</p>\n<ul>\n${list.join('\n')}\n</ul>\n</article>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${topic ? `${escaped(topic.title)} – Cairn` : title}</title>
<link rel="icon" type="image/svg+xml" href="${api}/docs/icon.svg">
${siteHead(root, font)}
<link rel="stylesheet" href="${base}manual.css">
<script src="${base}manual.js"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
${siteHeader(root, 'Manual', search)}
<div class="columns">
<nav class="contents" aria-label="Topics"><details open><summary>Topics</summary>
${contents(topics, base, topic)}
</details></nav>
<main id="text" tabindex="-1">
${body}
</main>
</div>
</body>
</html>
`
}
