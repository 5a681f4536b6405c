import { createPlace } from '../author/place.ts'
import { safely } from '../snippet/safely.ts'
import { button, make } from '../snippet/stage/make.ts'
import { styles } from './styles.ts'
import { words } from './words.ts'

/** How often the badge is put back if the page has re-rendered, milliseconds. */
const followMs = 200

/** Says on the page that a draft is previewed, and how the preview ends. */
export function createBadge() {
  const place = createPlace('preview', styles, 'open')
  const title = make(window, 'span', 'title', {}, words.title)
  const until = make(window, 'span', 'until')
  const name = make(window, 'p', 'name')
  const status = make(window, 'p', 'status', { role: 'status', 'aria-live': 'polite' })
  const actions = make(window, 'div', 'actions')
  const badge = make(
    window,
    'section',
    'badge',
    { 'aria-label': words.badge, lang: 'en', popover: 'manual' },
    make(window, 'div', 'head', {}, title, until),
    name,
    status,
    actions,
  )
  badge.dir = getComputedStyle(document.body).direction
  place.shadow.append(badge)
  /** Puts it into a modal step, as nothing else can be used then, and above it: no page moves the top layer. */
  const follow = () => {
    place.attach()
    if (badge.isConnected && !badge.matches(':popover-open')) badge.showPopover()
  }
  safely(follow)
  const timer = setInterval(() => safely(follow), followMs)

  const remove = () => {
    clearInterval(timer)
    place.remove()
  }
  const move = button(window, '', words.move, () => badge.classList.toggle('top'))
  name.hidden = true

  return {
    say(text: string) {
      status.textContent = text
    },
    /** A draft is shown until the given time. */
    shows(flowName: string, end: Date, press: { again(): void; end(): void }) {
      name.textContent = flowName
      name.hidden = false
      const time = end.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
      until.textContent = words.until(time)
      actions.replaceChildren(
        button(window, '', words.again, press.again),
        move,
        button(window, '', words.end, press.end),
      )
    },
    /** There is nothing to preview any more. Says why, until somebody closes it. */
    over(why: string) {
      title.textContent = words.badge
      until.textContent = ''
      name.hidden = true
      status.textContent = why
      actions.replaceChildren(button(window, '', words.close, remove))
    },
    remove,
  }
}
