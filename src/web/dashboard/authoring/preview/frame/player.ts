import { itemsOf } from '../../../../../core/flow/items.ts'
import type { MaybeTheme } from '../../../../../core/flow/merged-theme.ts'
import { shownAs } from '../../../../../core/flow/shown-as.ts'
import { ownPart } from '../../../../snippet/all-parts.ts'
import { muted, standIns } from '../../../../snippet/muted.ts'
import type { Finder, Flow } from '../../../../snippet/parts.ts'
import { newRun, type Run } from '../../../../snippet/runs.ts'
import { showChecklist } from '../../../../snippet/stage/checklist.ts'
import { createDrawer } from '../../../../snippet/stage/drawer.ts'
import { ownHostAttribute } from '../../../../snippet/stage/elements.ts'
import { offerLauncher } from '../../../../snippet/stage/launcher.ts'
import { playSteps } from '../../../../snippet/stage/player.ts'
import { spoken } from '../../../../snippet/stage/spoken.ts'
import type { StageDeps } from '../../../../snippet/stage.ts'
import type { FromFrame } from '../messages.ts'
import { letGoOfFocus } from './keyboard.ts'
import type { MockPage } from './mock-page.ts'
import { withLogosThatLoad, withoutPages } from './shown-here.ts'

/** A narrower page begins with its checklist folded up, as for visitors; CSS pixels. */
const roomyPx = 600

const noReports = { health() {}, fingerprint() {} }

/** Plays a flow with the snippet's own stage, from any step. */
export function createPlayer(page: Window, mock: MockPage, tell: (message: FromFrame) => void) {
  /** The organisation's theme. */
  let theme: MaybeTheme = null
  const drawer = createDrawer({ page }, () => theme)
  let flow: Flow | null = null
  let run: Run | null = null
  let playing: { leave(): void; tracked(name: string): void } | null = null
  /** The shown step and its place, so that a step stays when its key changes. */
  let at: { key: string; place: number } | null = null
  /** The flow as last drawn, as text. */
  let drawn = ''
  /** Whether a drawing may move nothing but the text, because it is made for a new text. */
  let isStill = false

  const shadow = () => document.querySelector(`[${ownHostAttribute}]`)?.shadowRoot ?? null

  const settle = () => {
    for (const animation of shadow()?.getAnimations() ?? []) {
      // The dot of a hotspot keeps moving for as long as it is shown.
      if (animation.effect?.getComputedTiming().iterations !== Infinity) animation.finish()
    }
  }

  const finder: Finder = {
    async find(target) {
      const place = flow?.steps.findIndex(step => step.target === target) ?? 0
      const step = flow?.steps[place]
      const isPressed = step?.advance.on === 'click'
      const isBeside = step?.kind === 'banner' || step?.kind === 'slideout'
      const pointsNowhere = !isPressed && (step?.kind === 'modal' || isBeside)
      if (pointsNowhere) mock.clear()
      const element = pointsNowhere
        ? document.body
        : mock.standInFor(target, Math.max(0, place), isPressed)
      return { element, by: 'selector', selector: target.selector, matchCount: 1, waitedMs: 0 }
    },
    now: (_target, _found, current) => current,
    alike: async () => null,
  }

  const deps: StageDeps & { drawer: typeof drawer; save(): void } = {
    ...muted,
    loadPart: ownPart,
    drawer,
    page,
    tell(name, what) {
      if (name === 'item_completed' && what && 'itemKey' in what) {
        tell({ type: 'shown', key: what.itemKey, isByVisitor: true })
      }
      if (name !== 'step_viewed' || !what || !('stepKey' in what) || !flow) return
      const place = flow.steps.findIndex(({ key }) => key === what.stepKey)
      const isByVisitor = at !== null && at.key !== what.stepKey
      at = { key: what.stepKey, place }
      if (!flow.steps[place]?.target) mock.clear()
      tell({ type: 'shown', key: what.stepKey, isByVisitor })
    },
    end(slot, outcome) {
      // A finished checklist removes itself once it has been shown as done.
      if (slot === 'steps') playing = null
      mock.clear()
      tell({ type: 'ended', outcome })
    },
  }

  function leave(): void {
    letGoOfFocus()
    playing?.leave()
    playing = null
  }

  function playFrom(shown: Flow, place: number): void {
    const step = shown.steps[place]
    if (!step) {
      leave()
      return
    }
    const before = shown.steps.slice(0, place)
    run = { ...newRun(shown, '', true), stepId: step.id, viewed: before.map(({ id }) => id) }
    at = { key: step.key, place }
    const wasOpen = isStill && shadow()?.querySelector('.spot[aria-expanded="true"]') != null
    leave()
    const drawing = (isDrawn: boolean) => {
      if (!isDrawn || !isStill) return
      queueMicrotask(() => {
        if (wasOpen) shadow()?.querySelector<HTMLElement>('.spot')?.click()
        settle()
        isStill = false
      })
    }
    playing = playSteps(shown, run, { ...deps, finder, reports: noReports, drawing })
  }

  function list(shown: Flow, item: string | null): void {
    const ticked = run?.ticked ?? {}
    const isOpen = item !== null || (run?.isOpen ?? innerWidth >= roomyPx)
    run = { ...newRun(shown, '', isOpen), wasOpened: true, ticked }
    mock.clear()
    leave()
    playing = showChecklist(shown, run, { ...deps, isHidden: false })
    if (isStill) settle()
    isStill = false
    lookAt(shown, item)
  }

  /** Opens it for the item that is shown, or if the visitor has opened it. */
  function launcher(shown: Flow, item: string | null): void {
    const isOpen = item !== null || shadow()?.querySelector('.centre') != null || !isStill
    mock.clear()
    leave()
    const feed = { ...deps.feed, known: () => standIns(shown) }
    const own = { feed, spoken, reports: noReports, isHidden: false }
    const offered = offerLauncher(shown, { ...deps, ...own })
    if (isOpen) offered.open()
    playing = { ...offered, tracked() {} }
    if (isStill) settle()
    isStill = false
    lookAt(shown, item)
  }

  function lookAt(shown: Flow, item: string | null): void {
    const items = itemsOf(shown)
    const place = items.findIndex(({ key }) => key === item)
    const rows = shadow()?.querySelectorAll('.items:not(li .items) > li')
    rows?.[place]?.scrollIntoView({ block: 'nearest' })
    tell({ type: 'shown', key: item ?? items[0]?.key ?? '', isByVisitor: false })
  }

  function play(part: string | null): void {
    if (!flow) return
    const play = { launcher, checklist: list, steps: tour }[shownAs(flow)]
    play(flow, part)
  }

  function tour(shown: Flow, part: string | null): void {
    const { steps } = shown
    const placeOf = (key: string | null | undefined) => steps.findIndex(step => step.key === key)
    const wished = placeOf(part) >= 0 ? placeOf(part) : placeOf(at?.key)
    playFrom(shown, wished >= 0 ? wished : Math.min(at?.place ?? 0, steps.length - 1))
  }

  return {
    /** Shows a flow, or the same flow with a new text; then the shown step or item stays. */
    show(next: Flow, part: string | null, ofOrganisation: MaybeTheme): void {
      const text = JSON.stringify([next, ofOrganisation])
      theme = withLogosThatLoad(ofOrganisation)
      const isOfList = shownAs(next) !== 'steps'
      if (text === drawn && playing && flow) {
        const isThere = isOfList
          ? (run?.isOpen ?? shadow()?.querySelector('.centre') != null)
          : part === null || part === at?.key
        if (isThere && isOfList) lookAt(flow, part)
        if (isThere) return
      }
      drawn = text
      const isSame = flow?.key === next.key && shownAs(flow) === shownAs(next)
      if (!isSame) at = run = null
      isStill =
        isSame && playing !== null && (part === null || part === at?.key || !hasStep(next, part))
      flow = withoutPages(next)
      play(part)
    },
    /** Draws again after the window or the look of the page has changed. */
    redraw(): void {
      isStill = true
      if (playing) play(at?.key ?? null)
    },
    again(): void {
      at = run = null
      play(null)
    },
    track: (name: string) => playing?.tracked(name),
  }
}

const hasStep = ({ steps }: Flow, part: string) => steps.some(({ key }) => key === part)
