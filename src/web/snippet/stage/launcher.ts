import type { StartReason } from '../../../core/event/start-reason.ts'
import { listedTraits } from '../../../core/event/traits.ts'
import { announcementsFor } from '../../../core/flow/announcements.ts'
import { isInAudience } from '../../../core/flow/audience-match.ts'
import { noHistory } from '../../../core/flow/decision.ts'
import { idsOf } from '../engine.ts'
import type { Flow, Item } from '../parts.ts'
import type { Run } from '../runs.ts'
import { safely } from '../safely.ts'
import type { StageDeps } from '../stage.ts'
import { progressOf } from '../standing.ts'
import { uuid } from '../uuid.ts'
import { drawLauncher } from './draw-launcher.ts'
import type { Drawer } from './drawer.ts'
import { openerReports } from './launcher-reports.ts'
import type { Listed, Offer, Offered, StageTools } from './launcher-shown.ts'
import { isElsewhere, safeHref } from './links.ts'
import type { StepReports } from './step-reports.ts'

/** How often it is checked whether something else is to be shown, milliseconds. */
const watchMs = 1_000

/**
 * Offers what a launcher has. Each opening is a run: it is completed by the choice of an item, which counts
 * as one of its steps, or dismissed.
 */
export function offerLauncher(
  flow: Flow,
  {
    drawer,
    isHidden,
    spoken,
    ...deps
  }: StageDeps &
    Pick<StageTools, 'spoken'> & {
      drawer: Pick<Drawer, 'launcher'>
      reports: StepReports
      isHidden: boolean
    },
): Offered {
  const { outbox, page, person, feed, history, tell } = deps
  /** The opening that goes on; null while it is closed. */
  let run: Pick<Run, 'runId' | 'flowVersion'> | null = null
  let shown = ''

  const flowOf = (key: string) => feed.known().find(other => other.key === key)
  const isTheirs = ({ targeting }: Flow) => isInAudience(targeting.audience, person.current.traits)

  const announcements = (): Listed[] => {
    const { current, name } = person
    const reader = { past: history.of(name), traits: current.traits, person: name }
    return announcementsFor(feed.known(), { ...reader, now: deps.clock.now() }).map(
      ({ flow: authored, isUnread }) => {
        const { flow } = spoken(authored, page, deps.locale)
        const title = flow.title ?? (flow.steps[0]?.title || flow.name)
        return { flow, title, isUnread }
      },
    )
  }

  /** Items whose flow is not published, or for other people, are left out. */
  function offerOf(item: Item): Offer[] {
    if (item.announcements) return [{ item, announcements: announcements() }]
    if (item.flow === undefined) return [{ item }]
    const starts = flowOf(item.flow)
    if (!starts || !isTheirs(starts)) return []
    const open = deps.runs.open(person.name, 'checklist')
    const run = open.find(({ flowId }) => flowId === starts.id)
    const progress = progressOf(starts, run, history.of(person.name)[starts.id] ?? noHistory)
    return [{ item, starts: { kind: starts.kind, progress } }]
  }

  const offersNow = () => (flow.launcher?.items ?? []).flatMap(offerOf)
  const unreadIn = (offers: readonly Offer[]) =>
    offers.flatMap(offer => offer.announcements ?? []).filter(({ isUnread }) => isUnread).length

  const matched = openerReports(flow, deps)
  const drawing = drawer.launcher(drawLauncher, flow, { toggle, choose, matched })

  /** @param isNews draws only if what is shown has changed */
  const draw = (isNews = false) => {
    const offers = offersNow()
    const unread = unreadIn(offers)
    const signs = offers.map(({ item, starts, announcements }) => [
      item.id,
      starts?.progress,
      announcements?.map(({ flow: { id, version }, isUnread }) => [id, version, isUnread]),
    ])
    const { lang } = page.document.documentElement
    const now = JSON.stringify([signs, lang, isHidden, run])
    if (isNews && now === shown) return
    shown = now
    drawing.draw({ isOpen: run !== null, isHidden, offers, unread })
  }

  function toggle(isOpen: boolean): void {
    if (isOpen === (run !== null)) return
    if (isOpen) open()
    else close('flow_dismissed')
  }

  function open(): void {
    if (run) return
    run = { runId: uuid(), flowVersion: flow.version }
    const traits = listedTraits(feed.listedTraits(), person.current.traits)
    const reason: StartReason | null = unreadIn(offersNow()) > 0 ? 'unread' : null
    outbox.report({
      ...{ kind: 'flow_started', ...idsOf(flow, run as Run) },
      ...(traits && { traits }),
      ...(reason && { reason }),
    })
    tell('flow_started', { flowKey: flow.key })
    draw()
  }

  function close(kind: 'flow_completed' | 'flow_dismissed'): void {
    if (!run) return
    const ended = idsOf(flow, run as Run)
    run = null
    outbox.report({ kind, ...ended, ...(kind === 'flow_dismissed' && { reason: 'closed' }) })
    tell(kind, { flowKey: flow.key })
    draw()
  }

  function choose(item: Item, announcement?: Flow): void {
    if (!run) return
    outbox.report({ kind: 'step_completed', ...idsOf(flow, run as Run), stepId: item.id })
    tell('item_completed', { flowKey: flow.key, itemKey: item.key })
    close('flow_completed')
    const key = announcement?.key ?? item.flow
    if (key !== undefined) {
      deps.start(key, 'launcher')
      return
    }
    const href = item.href === null ? null : safeHref(item.href, page)
    if (href === null) return
    outbox.flush()
    if (isElsewhere(href, page)) page.open(href, '_blank', 'noopener')
    else page.location.assign(href)
  }

  const watching = page.setInterval(() => safely(() => draw(true)), watchMs)
  draw()
  return {
    open,
    hide(hidden) {
      isHidden = hidden
      if (hidden) close('flow_dismissed')
      draw()
    },
    leave() {
      page.clearInterval(watching)
      drawing.remove()
    },
  }
}
