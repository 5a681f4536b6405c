import { render } from 'preact'
import type { Plain } from '../../../core/flow/plain.ts'
import { clearChoice, takenOf } from '../../../core/step/candidate.ts'
import { mayNamePerson } from '../../../core/step/proposal.ts'
import type { LoadStage } from '../../snippet/engine.ts'
import { safely } from '../../snippet/safely.ts'
import { fingerprintOf } from '../../snippet/stage/fingerprint.ts'
import { make } from '../../snippet/stage/make.ts'
import { shield } from '../../snippet/stage/shield.ts'
import { candidatesFor, isWrapper } from '../candidates.ts'
import { describe } from '../describe.ts'
import { createPicking } from '../picking.ts'
import { createOutline, createPlace } from '../place.ts'
import type { AuthorSession, Visit } from '../session.ts'
import { styles as pickStyles } from '../styles.ts'
import { Bar } from './bar.tsx'
import { writeTitleOf } from './card-fields.ts'
import { styleStage, unstyleStage } from './card-styles.ts'
import { createDraft } from './draft.ts'
import { dragCard, makeMovable } from './dragging.ts'
import { createDrawing, type DrawingOf } from './drawing.ts'
import { createFreeze } from './freeze.ts'
import { keepOnTop } from './keep-on-top.ts'
import { makeRoom } from './make-room.ts'
import { editOnCard } from './on-card.tsx'
import { listenToShortcuts } from './shortcuts.ts'
import { type Acts, isOfSteps, type State, stepIn } from './state.ts'
import { StepPanel } from './step-panel.tsx'
import { dragSteps } from './strip-dragging.ts'
import { styles } from './styles.ts'

/** How often the builder returns if the page removed it, and outlines follow, milliseconds. */
const followMs = 100
/** By then a step that was drawn is in its place, milliseconds. */
const placedMs = 300

/** A key that no step of the flow has. */
function freeKey(taken: readonly string[]): string {
  let count = taken.length + 1
  while (taken.includes(`step-${count}`)) count++
  return `step-${count}`
}

/**
 * Shows the draft's steps on the page, where their author changes them. Each change is only proposed: the
 * author's dashboard saves it.
 */
export async function startBuilding(
  session: AuthorSession,
  visit: Visit,
  { loadStage, left }: { loadStage: LoadStage; left(): void },
): Promise<void> {
  // Open, because the snippet's steps leave the focus to fields that they can see, and pages get no event of it.
  const place = createPlace('builder', pickStyles + styles, 'open')
  const endDraggingSteps = dragSteps(place, {
    show: dragged => patch({ dragged }),
    drop({ key, before }) {
      const keys = state.draft?.flow.steps.map(({ key }) => key) ?? []
      const from = keys.indexOf(key)
      if (from < 0 || before === from || before === from + 1) return
      draft.propose({ do: 'move', step: key, after: keys[before - 1] ?? null })
    },
  })
  shield(place.shadow, window)
  const root = make(window, 'div', 'builder', { popover: 'manual', lang: 'en' })
  place.shadow.append(root)
  const pointed = createOutline(place, '')

  let state: State = {
    code: visit.code,
    form: session.formOf(visit.flow),
    draft: null,
    step: session.step.get() ?? visit.step,
    dragged: null,
    picking: null,
    picked: null,
    isFrozen: false,
    isFolded: innerWidth < 640,
    isOver: false,
    isMissing: false,
    isOtherSide: false,
    isOnTop: false,
  }
  let drawing: DrawingOf | null = null
  const { raise, leaveStep, focused, forgetFocus } = keepOnTop(place, root)

  const draw = () => {
    render(
      <>
        <Bar state={state} acts={acts} />
        <StepPanel state={state} acts={acts} />
      </>,
      root,
    )
    root.dir = getComputedStyle(document.body).direction
    root.classList.toggle('other', state.isOtherSide)
    root.classList.toggle('on-top', state.isOnTop)
    const { draft, picking, isOver, step } = state
    if (!draft || picking || isOver || !isOfSteps(draft.flow)) return drawing?.hide()
    drawing?.show(draft.flow, step, draft.theme)
  }
  const patch = (next: Partial<State>) => {
    state = { ...state, ...next }
    safely(draw)
  }

  const draft = createDraft(session, {
    change(next) {
      const keys = next.flow.steps.map(({ key }) => key)
      const isThere = state.step !== null && keys.includes(state.step)
      patch({ draft: next, step: isThere ? state.step : (keys[0] ?? null) })
    },
    end: () => {
      stop()
      patch({ isOver: true, picking: null })
    },
  })

  let shownKey: string | null = null
  const acts: Acts = {
    choose(key) {
      session.step.set(key)
      patch({ step: key, picked: null })
    },
    propose: change => draft.propose(change),
    type: change => draft.type(change),
    undo: () => draft.undo(),
    pick(what) {
      patch({ picking: what, picked: null })
      picking.switch(true)
      // From here on the keys move between the page's elements.
      focused()?.blur()
      forgetFocus()
    },
    stopPicking() {
      picking.switch(false)
      patch({ picking: null, picked: null })
    },
    use(target, title = '') {
      const what = state.picked?.for ?? state.picking ?? 'target'
      picking.switch(false)
      const { step } = state
      state = { ...state, picking: null, picked: null }
      if (what === 'target') {
        if (step !== null) draft.propose({ do: 'target', step, target })
        return
      }
      const keys = state.draft?.flow.steps.map(({ key }) => key) ?? []
      const key = freeKey(keys)
      session.step.set(key)
      state = { ...state, step: key }
      writeTitleOf(key)
      draft.propose({ do: 'add', after: step, step: { key, title, target } })
    },
    freeze() {
      freeze.switch(!state.isFrozen)
      patch({ isFrozen: !state.isFrozen })
    },
    patch,
    close() {
      session.leave()
      stop()
      place.remove()
      left()
    },
  }

  const pick = (element: Element) => {
    const what = state.picking ?? 'target'
    const candidates = candidatesFor(element)
    const named = describe(element)
    const { name } = fingerprintOf(element)
    const mayName = [named, name].some(text => text !== undefined && mayNamePerson(text))
    const picked = { named, candidates, isWrapper: isWrapper(element), mayNamePerson: mayName }
    const clear = mayName ? undefined : clearChoice(candidates, picked.isWrapper)
    if (clear !== undefined) {
      // A name that may be a person's, or is long, is no title.
      const title = name && name.length <= 60 ? name : ''
      return acts.use(takenOf(candidates, clear), title)
    }
    picking.switch(false)
    patch({ picking: null, picked: { ...picked, for: what } })
  }

  const picking = createPicking(place, {
    point: element => safely(() => pointed.show(element, element ? describe(element) : '')),
    pick,
    leave: acts.stopPicking,
  })
  const freeze = createFreeze(place)
  const endDragging = dragCard(
    () => stepIn(state.draft?.flow, state.step),
    ({ key }, placement) =>
      draft.propose({ do: 'set', step: key, field: 'placement', value: placement }),
  )
  const endShortcuts = listenToShortcuts(place, {
    freeze: acts.freeze,
    undo: () => state.draft?.canUndo && acts.undo(),
    focus() {
      const chosen = place.shadow.querySelector<HTMLElement>('.bar [aria-current]')
      ;(chosen ?? place.shadow.querySelector<HTMLElement>('.bar button'))?.focus()
    },
  })

  const follow = () =>
    safely(() => {
      const parent = root.getRootNode() as ShadowRoot
      const before = parent.host.parentElement
      place.attach()
      if (before !== parent.host.parentElement || !root.matches(':popover-open')) root.showPopover()
      pointed.follow()
    })
  const timer = setInterval(follow, followMs)
  addEventListener('scroll', follow, { capture: true, passive: true })
  function stop(): void {
    draft.stop()
    picking.stop()
    freeze.switch(false)
    endShortcuts()
    endDragging()
    endDraggingSteps()
    clearInterval(timer)
    removeEventListener('scroll', follow, { capture: true })
    pointed.show(null)
    drawing?.hide()
    unstyleStage()
  }

  draw()
  safely(raise)
  try {
    drawing = await createDrawing(loadStage, {
      clearing: () => safely(leaveStep),
      drawn(key) {
        const isOther = key !== shownKey
        shownKey = key
        if (key !== state.step) acts.choose(key)
        safely(raise)
        const stepNow = () => stepIn(state.draft?.flow, key)
        const set = (field: 'title' | 'body' | 'buttons') => (value: Plain) =>
          draft.type({ do: 'set', step: key, field, value })
        safely(() => {
          styleStage()
          editOnCard({
            step: stepNow,
            title: set('title'),
            text: set('body'),
            buttons: buttons => set('buttons')(buttons as unknown as Plain),
            done: draw,
          })
          const step = stepNow()
          if (step) makeMovable(step)
        })
        setTimeout(() => safely(() => makeRoom(place, state, patch, isOther)), placedMs)
      },
      missing: isMissing =>
        isMissing !== state.isMissing && queueMicrotask(() => patch({ isMissing })),
    })
    draw()
  } catch {
    // Without the stage, the fields still work.
  }
}
