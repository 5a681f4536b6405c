import { dayMs } from '../../../core/time/durations.ts'
import type { Flow, Item } from '../parts.ts'
import { check, icon, progressRing } from './icons.ts'
import { itemIcons } from './launcher-icons.ts'
import type { LauncherActions, Listed, Offer, StageTools } from './launcher-shown.ts'
import type { LauncherWords } from './launcher-words.ts'
import { isElsewhere, safeHref } from './links.ts'
import { button, make } from './make.ts'
import type { Words } from './words.ts'

/** How many announcements are listed before the visitor wants all. */
const maxListed = 3

/** From this age on, a date needs its year. */
const longAgoMs = 300 * dayMs

/** Which icon says where an item leads: only what opens in a tab of its own has the arrow out of the page. */
function iconOf({ href }: Item, page: Window): keyof typeof itemIcons {
  if (href === null) return 'start'
  if (href.startsWith('mailto:')) return 'mail'
  const safe = safeHref(href, page)
  return safe?.startsWith('http') && !isElsewhere(safe, page) ? 'page' : 'link'
}

/** Draws what a launcher offers, as a list in the order of its items. */
export function drawOffers(
  offers: readonly Offer[],
  { launcher, locale }: Flow,
  words: Words & LauncherWords,
  page: Window,
  {
    choose,
    speak,
    markdownNodes,
  }: Pick<LauncherActions, 'choose'> &
    Pick<StageTools, 'markdownNodes'> & { speak(part: HTMLElement, of: Item): void },
): HTMLElement {
  const list = make(page, 'ul', 'items offers')

  const day = ({ publishedAt }: Flow) => {
    const at = Date.parse(publishedAt)
    const isLongAgo = Date.now() - at > longAgoMs
    const language = page.document.documentElement.lang || locale || undefined
    const year = isLongAgo ? ({ year: 'numeric' } as const) : {}
    return new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', ...year }).format(at)
  }

  const newsOf = (item: Item, listed: Listed): HTMLElement => {
    const { flow, title, isUnread } = listed
    const row = button(page, 'item news', '', () => choose(item, flow))
    const mark = isUnread
      ? make(page, 'span', 'dot', { role: 'img', 'aria-label': words.isNew })
      : make(page, 'span', 'dot none')
    const date = make(page, 'span', 'date', {}, day(flow))
    row.append(mark, make(page, 'span', 'title', {}, title), date)
    return make(page, 'li', isUnread ? 'unread' : '', {}, row)
  }

  const announcements = (row: HTMLElement, item: Item, all: readonly Listed[]) => {
    const unread = all.filter(({ isUnread }) => isUnread).length
    const head = make(page, 'h3', 'section', {}, make(page, 'span', '', {}, item.title))
    if (unread > 0) head.append(make(page, 'span', 'place', {}, words.unread(unread)))
    const inner = make(page, 'ul', 'items')
    const show = (shown: readonly Listed[]) => {
      inner.replaceChildren(...shown.map(one => newsOf(item, one)))
      if (shown.length < all.length) {
        const more = button(page, 'quiet', words.showAll(all.length), () => {
          show(all)
          inner.querySelectorAll<HTMLElement>('button')[maxListed]?.focus()
        })
        inner.append(make(page, 'li', '', {}, more))
      }
    }
    show(all.slice(0, maxListed))
    if (all.length === 0) inner.append(make(page, 'li', 'nothing', {}, words.nothing))
    row.className = 'has-news'
    row.append(head, inner)
  }

  /** What stands before an item: where it leads, or how far its checklist is. */
  const markOf = ({ item, starts }: Offer): Element => {
    if (starts?.kind === 'checklist') {
      const { completed, total } = starts.progress
      if (total > 0 && completed === total) return icon(page, 'icon', check)
      return progressRing(page, total === 0 ? 0 : completed / total)
    }
    return icon(page, 'icon', itemIcons[iconOf(item, page)])
  }

  for (const offer of offers) {
    const item = launcher?.items.find(({ id }) => id === offer.item.id) ?? offer.item
    const row = make(page, 'li', '', { part: 'item' })
    speak(row, item)
    list.append(row)
    if (offer.announcements) {
      announcements(row, item, offer.announcements)
      continue
    }
    const pressed = button(page, 'item', '', () => choose(item))
    const text = make(page, 'span', 'title', {}, item.title)
    const { completed = 0, total = 0 } =
      offer.starts?.kind === 'checklist' ? offer.starts.progress : {}
    if (total > 0) {
      const progress = completed === total ? words.allDone : words.of(completed, total)
      text.append(make(page, 'span', 'place', {}, progress))
      pressed.disabled = completed === total
    }
    pressed.append(make(page, 'span', 'mark', {}, markOf({ ...offer, item })), text)
    if (item.description) {
      const nodes = markdownNodes(item.description, page)
      pressed.append(make(page, 'span', 'body description', {}, ...nodes))
    }
    row.append(pressed)
  }
  return list
}
