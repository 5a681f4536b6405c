import type { IconName } from './icon.tsx'
import { words } from './words.ts'

/** How a text is marked: what stands around the chosen words, and what stands there if none are chosen. */
export interface Mark {
  icon?: IconName
  sign?: string
  label: string
  key?: string
  before: string
  after: string
  empty: string
}

export const marks: readonly Mark[] = [
  { sign: 'B', label: words.bold, key: 'b', before: '**', after: '**', empty: '' },
  { sign: 'I', label: words.italic, key: 'i', before: '_', after: '_', empty: '' },
  {
    icon: 'link',
    label: words.link,
    key: 'k',
    before: '[',
    after: '](https://)',
    empty: words.linkText,
  },
  { icon: 'list', label: words.list, before: '\n- ', after: '', empty: '' },
  { icon: 'image', label: words.image, before: '![', after: '](https://)', empty: words.imageText },
]

/** The mark that a key stands for, with Ctrl or Command. */
export const markOf = ({ ctrlKey, metaKey, key }: KeyboardEvent): Mark | undefined =>
  ctrlKey || metaKey ? marks.find(mark => mark.key === key.toLowerCase()) : undefined

/** A text with the words from `start` to `end` marked, and which part of it is chosen then. */
export function marked(
  text: string,
  start: number,
  end: number,
  { before, after, empty }: Mark,
): { text: string; from: number; to: number } {
  const chosen = text.slice(start, end) || empty
  // A list begins at the start of a line, and has an entry a line.
  const isList = before.startsWith('\n')
  const opening = isList && (start === 0 || text[start - 1] === '\n') ? before.slice(1) : before
  const inner = isList ? chosen.replaceAll('\n', before) : chosen
  // The address of a link is written next.
  const isAddress = after.includes('https://') && chosen !== empty
  const from = start + opening.length + (isAddress ? inner.length + 2 : 0)
  return {
    text: text.slice(0, start) + opening + inner + after + text.slice(end),
    from,
    to: from + (isAddress ? 'https://'.length : inner.length),
  }
}
