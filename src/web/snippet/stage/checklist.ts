import { idsOf } from '../engine.ts'
import { jsonIn } from '../natives.ts'
import { namesOf } from '../outbox.ts'
import type { Flow, Item } from '../parts.ts'
import { isWithin } from '../recency.ts'
import type { Run } from '../runs.ts'
import { safely } from '../safely.ts'
import type { StageDeps } from '../stage.ts'
import type { Drawer } from './drawer.ts'
import { isElsewhere, safeHref } from './links.ts'
import { languagesOf } from './spoken.ts'

/** Of pages that follow each other this soon, milliseconds, only one asks what was ticked elsewhere. */
const justNowMs = 10_000
/** After this time a tick of this browser has reached the server, milliseconds. */
const onItsWayMs = 60_000
/** How long a list that was just finished stays visible, milliseconds. */
const farewellMs = 8_000
/** How often the page's language and the server's news are checked, milliseconds. */
const watchMs = 1_000

/** Shows a checklist beside the page. Ends by itself, or by `leave`, which reports nothing. */
export function showChecklist(
  flow: Flow,
  run: Run,
  { drawer, isHidden, ...deps }: StageDeps & { drawer: Drawer; isHidden: boolean; save(): void },
): { leave(): void; open(): void; tracked(name: string): void; hide(isHidden: boolean): void } {
  const { outbox, page, person, feed, tell, transport } = deps
  const { items, order } = flow.checklist ?? { items: [], order: 'any' }
  const ticked = new Map(Object.entries(run.ticked))
  let isLeft = false
  let isAsking = false
  /** The languages that it was drawn for. */
  let languages = ''
  /** Whose progress was requested. */
  let lastNames: string | null = null

  const drawing = drawer.checklist(flow, {
    toggle,
    open: openItem,
    tick: tickItem,
    dismiss() {
      leave()
      if (!isDone()) deps.end('checklist', 'dismissed', { reason: 'closed' })
    },
  })

  function toggle(isOpen: boolean): void {
    if (isDone()) {
      leave()
      return
    }
    run.isOpen = isOpen
    deps.save()
    draw()
  }

  /** In sequence, an item waits for those before it. */
  const isOpenTo = (item: Item) =>
    order === 'any' || items.every(other => other.position >= item.position || ticked.has(other.id))

  const draw = () => {
    if (isLeft) return
    if (run.isOpen && !isHidden && !run.wasOpened && !isDone()) {
      run.wasOpened = true
      deps.save()
      outbox.report({ kind: 'checklist_opened', ...idsOf(flow, run) })
    }
    languages = String(languagesOf(page))
    drawing.draw({ isOpen: run.isOpen, isHidden, isTicked: id => ticked.has(id), isOpenTo })
  }

  const note = () => {
    run.ticked = Object.fromEntries(ticked)
    deps.save()
  }

  const tick = (item: Item) => {
    if (ticked.has(item.id)) return
    ticked.set(item.id, Date.now())
    note()
    tell('item_completed', { flowKey: flow.key, itemKey: item.key })
    draw()
    if (!isDone()) return
    drawing.sayDone()
    end()
    // A list that was just finished is still shown as finished. One that was finished elsewhere goes at once.
    page.setTimeout(leave, farewellMs)
  }

  const isDone = () => items.every(({ id }) => ticked.has(id))

  /** The server derives the completion from the last tick. */
  const end = () => deps.end('checklist', 'completed', { isReported: false })

  function tickItem(item: Item): void {
    // An item that the page reports by an event of its own is ticked by that event.
    if (item.completeOn !== null || ticked.has(item.id)) return
    outbox.report({ kind: 'item_completed', ...idsOf(flow, run), itemId: item.id })
    tick(item)
  }

  function openItem(item: Item): void {
    tickItem(item)
    if (item.flow === undefined) follow(item.href)
    else deps.start(item.flow, 'checklist')
  }

  function follow(link: string | null): void {
    const href = link === null ? null : safeHref(link, page)
    if (href === null) return
    outbox.flush()
    if (isElsewhere(href, page)) page.open(href, '_blank', 'noopener')
    else page.location.assign(href)
  }

  const names = () => new URLSearchParams(namesOf(person.current) as Record<string, string>)

  /** Asks if somebody else is there by now, or if the server has another version. */
  const askForNews = () => {
    if (isAsking || isHidden || !outbox.maySpeak() || feed.isCrowded()) return
    const version = feed.progressVersion()
    const isNews = version !== null && version !== run.progressVersion
    if (!isNews && lastNames === String(names())) return
    const isKnown = lastNames === null && run.askedAt !== null && isWithin(run.askedAt, justNowMs)
    lastNames = String(names())
    if (isKnown && !isNews && !isReloaded(page)) return
    isAsking = true
    load(version)
      .catch(() => {})
      .finally(() => {
        isAsking = false
      })
  }

  async function load(version: string | null): Promise<void> {
    const path = `/flows/${flow.id}/checklist-progress?${names()}`
    const namesUser = person.current.userId !== null
    const response = await transport.ask('flows', path, { namesUser })
    if (response) run.progressVersion = version
    if (!response?.ok) return
    const answer = await jsonIn(response)
    if (isLeft || isDone()) return
    const now = Date.now()
    for (const { id, completed } of answer.items ?? []) {
      if (completed) ticked.set(id, ticked.get(id) ?? now)
      // Reopened elsewhere, unless the tick is still on its way.
      else if (now - (ticked.get(id) ?? now) > onItsWayMs) ticked.delete(id)
    }
    run.askedAt = now
    note()
    draw()
    if (!isDone()) return
    leave()
    end()
  }

  const watch = () => {
    if (!isHidden && languages !== String(languagesOf(page))) draw()
    askForNews()
  }
  const watching = page.setInterval(() => safely(watch), watchMs)

  const leave = () => {
    isLeft = true
    page.clearInterval(watching)
    drawing.remove()
  }

  draw()
  askForNews()
  return {
    leave,
    open() {
      toggle(true)
      drawing.point?.()
    },
    tracked(name) {
      for (const item of items) if (item.completeOn?.event === name) tick(item)
    },
    hide(hidden) {
      isHidden = hidden
      draw()
    },
  }
}

const isReloaded = ({ performance }: Window): boolean =>
  performance
    .getEntriesByType('navigation')
    .some(entry => (entry as PerformanceNavigationTiming).type === 'reload')
