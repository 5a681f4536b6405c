import { safely } from '../safely.ts'
import { ownHostAttribute } from '../stage/elements.ts'
import { button, make } from '../stage/make.ts'
import { type DebugReport, timeOf } from './report.ts'
import { styles } from './styles.ts'

/** How often the panel is brought up to date, milliseconds. */
const lookMs = 500

export interface PanelDeps {
  look(): DebugReport
  start(flowKey: string): void
  closed(): void
}

/**
 * Draws the debug panel, and keeps it up to date. It is for the page's developers, so it is in English. It
 * lies above everything, the page's dialogs too, and its styles pass a strict policy.
 *
 * @returns a function that takes it away
 */
export function openPanel(page: Window, { look, start, closed }: PanelDeps): () => void {
  const host = make(page, 'div', '', { [ownHostAttribute]: 'debug' })
  const shadow = host.attachShadow({ mode: 'open' })
  const sheet = new (page as Window & typeof globalThis).CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [sheet]
  const body = make(page, 'div', '')
  const copy = button(page, '', 'Copy', () => {
    const text = JSON.stringify(look(), null, 2)
    page.navigator.clipboard?.writeText(text).then(
      () => copy.replaceChildren('Copied'),
      () => copy.replaceChildren('The browser forbids it'),
    )
  })
  const close = button(page, '', 'Close', closed)
  const title = make(page, 'h2', '', { id: 'title' }, 'Cairn on this page')
  const panel = make(
    page,
    'div',
    'panel',
    { popover: 'manual', role: 'region', 'aria-labelledby': 'title', lang: 'en' },
    make(page, 'div', 'head', {}, title, copy, close),
    body,
  )
  shadow.append(panel)

  /** Flows whose rules are unfolded, by key. */
  const unfolded = new Set<string>()

  const facts = (heading: string, of: Readonly<Record<string, string>>) => [
    make(page, 'h3', '', {}, heading),
    make(
      page,
      'dl',
      '',
      {},
      ...Object.entries(of).flatMap(([name, value]) => [
        make(page, 'dt', '', {}, name),
        make(page, 'dd', '', {}, value),
      ]),
    ),
  ]

  const flow = ({ flowKey, isActive, rules, winner, progress }: DebugReport['flows'][number]) => {
    const failed = rules.find(({ holds }) => holds === false)
    const state = isActive ? 'shown' : failed ? `not shown: ${failed.why}` : 'due'
    const mark = make(page, 'span', isActive ? 'yes' : failed ? 'no' : 'maybe', {}, state)
    const details = make(
      page,
      'details',
      '',
      {},
      make(page, 'summary', '', {}, `${flowKey} · ${progress} · `, mark),
      make(
        page,
        'ul',
        '',
        {},
        ...rules.flatMap(entry => [line(`${entry.rule}: `, entry), ...partsOf(entry)]),
      ),
      ...(winner === null ? [] : [make(page, 'div', '', {}, `In its place: ${winner}`)]),
      button(page, '', `Start ${flowKey}`, () => start(flowKey)),
    )
    details.open = unfolded.has(flowKey)
    details.addEventListener('toggle', () => {
      if (details.open) unfolded.add(flowKey)
      else unfolded.delete(flowKey)
    })
    return details
  }

  const line = (name: string, { holds, why }: { holds: boolean | null; why: string }) => {
    const [mark, word] = holds === null ? ['?', 'maybe'] : holds ? ['✓', 'yes'] : ['✗', 'no']
    return make(page, 'li', '', {}, make(page, 'span', word, {}, mark), ` ${name}${why}`)
  }
  const partsOf = ({ parts }: DebugReport['flows'][number]['rules'][number]) =>
    parts.length === 0
      ? []
      : [make(page, 'li', '', {}, make(page, 'ul', '', {}, ...parts.map(part => line('', part))))]

  const events = ({ events: all }: DebugReport) => {
    const rows = all.map(({ kind, about, at, state }) => {
      const word = state === 'stored' ? 'yes' : state === 'waiting' ? 'maybe' : 'no'
      const cells = [timeOf(at), kind, about].map(text => make(page, 'td', '', {}, text))
      return make(page, 'tr', '', {}, ...cells, make(page, 'td', word, {}, state))
    })
    return [
      make(page, 'h3', '', {}, 'Events, since the panel was opened, and what waits'),
      rows.length > 0
        ? make(page, 'table', '', {}, make(page, 'tbody', '', {}, ...rows))
        : make(page, 'p', '', {}, 'none'),
    ]
  }

  let drawn = ''
  const draw = () => {
    const place = lastModal(page) ?? page.document.body
    if (host.parentNode !== place) {
      place.append(host)
      panel.showPopover()
    }
    const report = look()
    // While nothing changes it is not redrawn, which would disturb whoever reads or presses something.
    if (drawn === JSON.stringify(report)) return
    drawn = JSON.stringify(report)
    const focused = (shadow.activeElement as HTMLElement | null)?.textContent
    const scrolled = panel.scrollTop
    body.replaceChildren(
      ...facts('Who is there', report.person),
      make(page, 'h3', '', {}, 'Flows'),
      ...report.flows.map(flow),
      ...facts('Connection', report.connection),
      ...facts('Versions', report.versions),
      ...events(report),
    )
    panel.scrollTop = scrolled
    const again = [...body.querySelectorAll<HTMLElement>('button, summary')]
    if (focused) again.find(({ textContent }) => textContent === focused)?.focus()
  }
  safely(draw)
  const looking = page.setInterval(() => safely(draw), lookMs)

  return () => {
    page.clearInterval(looking)
    host.remove()
  }
}

/** The last modal dialog, the page's or the snippet's own: nothing outside of it can be used. */
function lastModal({ document }: Window): Element | undefined {
  const own = document.querySelectorAll(`[${ownHostAttribute}]`)
  const trees = [document, ...[...own].flatMap(({ shadowRoot }) => shadowRoot ?? [])]
  return trees.flatMap(tree => [...tree.querySelectorAll('dialog:modal')]).at(-1)
}
