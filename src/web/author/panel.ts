import type { Candidate } from '../../core/step/candidate.ts'
import { button, make } from '../snippet/stage/make.ts'
import type { Place } from './place.ts'
import { words } from './words.ts'

const svg = 'http://www.w3.org/2000/svg'

/** Arrows and a cross. They are drawn, because a page's policy may forbid loading them. */
function icon(path: string): SVGElement {
  const drawing = document.createElementNS(svg, 'svg')
  const line = document.createElementNS(svg, 'path')
  const attributes = { d: path, fill: 'none', stroke: 'currentColor', 'stroke-width': '1.6' }
  for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value)
  drawing.setAttribute('viewBox', '0 0 16 16')
  drawing.setAttribute('aria-hidden', 'true')
  drawing.append(line)
  return drawing
}

/** Drawn, because not every font has these arrows. */
const arrows: Record<string, string> = {
  Up: 'M8 13V3M4 7l4-4 4 4',
  Down: 'M8 3v10M4 9l4 4 4-4',
  'Left or right': 'M2 8h12M5 5 2 8l3 3M11 5l3 3-3 3',
}

function iconButton(path: string, label: string, press: () => void): HTMLButtonElement {
  const made = button(window, 'icon', '', press)
  made.append(icon(path))
  made.setAttribute('aria-label', label)
  made.title = label
  return made
}

const factsOf = ({ matchCount, grade, mayNamePerson }: Candidate) =>
  make(
    window,
    'div',
    'facts',
    {},
    make(window, 'span', `grade ${grade}`, {}, words.grades[grade]),
    make(window, 'span', '', {}, words.matches(matchCount)),
    ...(mayNamePerson ? [make(window, 'span', 'weak', {}, words.namesPerson)] : []),
  )

/** What the author reads and presses. */
export function createPanel(
  { shadow }: Place,
  press: { pick(): void; use(): void; close(): void },
) {
  const code = make(window, 'span', 'code', { title: words.codeWhy })
  const title = make(window, 'h2', '')
  const status = make(window, 'p', 'status', { role: 'status', 'aria-live': 'polite' })
  const result = make(window, 'div', 'result')
  const pick = button(window, '', words.pick, press.pick)
  const use = button(window, '', words.use, press.use)
  const modes = make(
    window,
    'div',
    'modes',
    { role: 'group', 'aria-label': words.modes },
    pick,
    use,
  )
  const keys = make(window, 'dl', '')
  for (const [key, what] of words.keys) {
    const pair = make(window, 'div', '')
    const name = make(window, 'dt', '', {}, arrows[key] ? icon(arrows[key]) : key)
    if (arrows[key]) name.append(make(window, 'span', 'unseen', {}, key))
    pair.append(name, make(window, 'dd', '', {}, what))
    keys.append(pair)
  }
  const move = iconButton('M2 8h12M5 5 2 8l3 3M11 5l3 3-3 3', words.move, () =>
    panel.classList.toggle('other'),
  )
  const panel = make(
    window,
    'section',
    'panel',
    { role: 'dialog', 'aria-label': words.panel, tabindex: '-1' },
    make(
      window,
      'header',
      '',
      {},
      make(window, 'span', 'product', {}, words.product),
      code,
      move,
      iconButton('M4 4l8 8M12 4l-8 8', words.close, press.close),
    ),
    title,
    modes,
    status,
    keys,
    result,
  )
  panel.lang = 'en'
  panel.dir = getComputedStyle(document.body).direction
  shadow.append(panel)
  const say = (text: string, isBad = false) => {
    status.textContent = text
    status.classList.toggle('bad', isBad)
  }
  const offerModes = (areThere: boolean) => {
    modes.hidden = keys.hidden = !areThere
  }
  offerModes(false)
  code.hidden = title.hidden = result.hidden = true

  return {
    say,
    entered(letters: string, name: string) {
      code.textContent = letters
      code.setAttribute('aria-label', `${words.code} ${[...letters].join(' ')}`)
      title.textContent = words.pickFor(name)
      code.hidden = title.hidden = false
      offerModes(true)
    },
    mode(isPicking: boolean) {
      pick.setAttribute('aria-pressed', String(isPicking))
      use.setAttribute('aria-pressed', String(!isPicking))
      keys.hidden = !isPicking
    },
    /** What was picked. */
    result(candidates: readonly Candidate[], mayNamePerson: boolean) {
      const list = make(window, 'ul', '', { 'aria-label': words.candidates })
      for (const candidate of candidates) {
        const selector = make(window, 'code', '', {}, candidate.selector)
        list.append(make(window, 'li', '', {}, selector, factsOf(candidate)))
      }
      const warning = make(window, 'p', 'warning', {}, words.mayNamePerson)
      result.replaceChildren(...(mayNamePerson ? [warning] : []), list)
      result.hidden = candidates.length === 0
      // The author knows the keys by now, and without them the panel hides less of the page.
      keys.hidden = true
    },
    /** Nothing more can be done here. */
    over(why: string) {
      offerModes(false)
      result.hidden = true
      say(why, true)
    },
    focus: () => use.focus(),
  }
}
