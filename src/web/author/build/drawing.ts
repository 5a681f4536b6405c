import type { Theme } from '../../../core/flow/theme.ts'
import type { LoadStage } from '../../snippet/engine.ts'
import { muted } from '../../snippet/muted.ts'
import { onNavigation } from '../../snippet/navigation.ts'
import type { Flow, Step } from '../../snippet/parts.ts'
import { newRun } from '../../snippet/runs.ts'
import { safely } from '../../snippet/safely.ts'
import type { Stage } from '../../snippet/stage.ts'
import { isWriting } from './card-fields.ts'
import { stageRoot } from './stage-root.ts'

/**
 * A step is shown whatever its rules say. If its element is not there, it is waited for, and no other step is
 * shown in its place.
 */
const asBuilt = ({ when: _, ...step }: Step): Step => ({
  ...step,
  target: step.target && { ...step.target, onMissing: 'wait', waitMs: 0 },
})

/** Draws the steps with the snippet's own stage, from which nothing is reported. */
export async function createDrawing(
  loadStage: LoadStage,
  on: {
    /** What is drawn is about to be taken off the page. */
    clearing(): void
    /** A step is on the page now. */
    drawn(key: string): void
    /** The element of the step is not on the page. */
    missing(is: boolean): void
  },
) {
  let theme: Theme | null = null
  let flow: Flow | null = null
  let key: string | null = null
  /** What is drawn, as text. */
  let drawn = ''

  const settle = () => {
    for (const animation of stageRoot()?.getAnimations() ?? []) {
      // The dot of a hotspot keeps moving.
      if (animation.effect?.getComputedTiming().iterations !== Infinity) animation.finish()
    }
  }
  const clear = () => {
    on.clearing()
    stage.clear('steps')
  }
  const begin = (isStill: boolean) => {
    const place = flow?.steps.findIndex(step => step.key === key) ?? -1
    if (!flow || place < 0) return clear()
    const before = flow.steps.slice(0, place).map(({ id }) => id)
    const run = { ...newRun(flow, '', true), stepId: flow.steps[place]!.id, viewed: before }
    isDrawn = false
    on.missing(false)
    on.clearing()
    stage.show(
      'steps',
      { ...flow, kind: 'tour', checklist: null, steps: flow.steps.map(asBuilt) },
      run,
    )
    if (isStill) stills = true
  }
  let stills = false
  let isDrawn = false
  /** The author looks at the flow, and does not finish it. */
  const again = () => queueMicrotask(() => safely(() => begin(false)))

  const stage: Stage = (await loadStage())({
    ...muted,
    feed: { ...muted.feed, theme: () => theme },
    page: window,
    tell(name, what) {
      if (name !== 'step_viewed' || !what || !('stepKey' in what)) return
      key = what.stepKey
      isDrawn = true
      on.missing(false)
      // Drawn right after this.
      queueMicrotask(() => {
        safely(() => stills && settle())
        stills = false
        on.drawn(what.stepKey)
      })
    },
    end: again,
    giveWay: again,
    inVain: is => on.missing(is && !isDrawn),
  })
  onNavigation(window, () => stage.moved())

  return {
    /** Shows a step of a flow, or leaves it if nothing about it is new. */
    show(next: Flow, step: string | null, ofOrganisation: Theme | null) {
      const text = JSON.stringify([next, ofOrganisation])
      if (text === drawn && step === key) return
      const isSame = step === key
      // What is being written on the card is there already.
      if (isSame && isWriting()) return
      drawn = text
      flow = next
      theme = ofOrganisation
      key = step
      begin(isSame)
    },
    /** Takes the step off the page, until it is shown again. */
    hide() {
      drawn = ''
      clear()
    },
  }
}

export type DrawingOf = Awaited<ReturnType<typeof createDrawing>>
