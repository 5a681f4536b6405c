import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, IconButton } from './icon.tsx'
import { type Acts, isOfSteps, type State, titleOf } from './state.ts'
import { words } from './words.ts'

/** Whether everything is saved; if not, why, and what to do. */
function Status({ draft, isMissing, isOver }: State) {
  const problem = isOver
    ? words.ended
    : draft && !isOfSteps(draft.flow)
      ? words.inForm
      : draft?.problem
        ? words.problems[draft.problem]
        : draft && !draft.isAttended
          ? words.unattended
          : null
  const text =
    problem ??
    (!draft
      ? words.loading
      : isMissing
        ? words.missing
        : draft.waiting > 0
          ? words.saving
          : words.saved)
  return (
    <p role="status" class={`state ${problem || isMissing ? 'bad' : ''}`}>
      {text}
    </p>
  )
}

/** How much of the neighbours stays in sight, pixels. */
const neighbourPx = 24

/** Brings the chosen step into sight. The page itself does not scroll. */
function scrollTo(strip: Element, chip: Element): void {
  const [outer, inner] = [strip, chip].map(one => one.getBoundingClientRect())
  const before = inner!.left - outer!.left
  const after = inner!.right - outer!.right
  if (before < 0) strip.scrollLeft += before - neighbourPx
  else if (after > 0) strip.scrollLeft += after + neighbourPx
}

/** The steps in order. A press shows one; dragging moves it. */
function Strip({ state, acts }: { state: State; acts: Acts }) {
  const [dragged, drag] = useState<string | null>(null)
  const [over, overAt] = useState<number | null>(null)
  const steps = state.draft?.flow.steps ?? []
  const list = useRef<HTMLOListElement>(null)
  useLayoutEffect(() => {
    const strip = list.current
    const chip = strip?.querySelector('[aria-current]')
    if (strip && chip) scrollTo(strip, chip)
  }, [state.step, steps.length])
  const drop = () => {
    if (dragged !== null && over !== null) {
      const others = steps.filter(({ key }) => key !== dragged)
      const from = steps.findIndex(({ key }) => key === dragged)
      const to = over > from ? over - 1 : over
      if (to !== from)
        acts.propose({ do: 'move', step: dragged, after: others[to - 1]?.key ?? null })
    }
    drag(null)
    overAt(null)
  }
  return (
    <ol class="strip" ref={list} aria-label={words.steps}>
      {steps.map((step, i) => (
        <li
          key={step.key}
          class={
            over === i
              ? 'drop-before'
              : over === i + 1 && i + 1 === steps.length
                ? 'drop-after'
                : ''
          }
          onDragOver={event => {
            if (dragged === null) return
            event.preventDefault()
            const { left, width } = event.currentTarget.getBoundingClientRect()
            const isLate = event.clientX > left + width / 2
            overAt(
              isLate === (getComputedStyle(event.currentTarget).direction === 'ltr') ? i + 1 : i,
            )
          }}
          onDrop={event => {
            event.preventDefault()
            drop()
          }}
        >
          <button
            type="button"
            class="chip"
            draggable={steps.length > 1}
            aria-current={step.key === state.step ? 'step' : undefined}
            onClick={() => acts.choose(step.key)}
            onDragStart={event => {
              event.dataTransfer!.effectAllowed = 'move'
              event.dataTransfer!.setData('text/plain', '')
              drag(step.key)
            }}
            onDragEnd={() => {
              drag(null)
              overAt(null)
            }}
          >
            <span class="number">{i + 1}</span>
            <bdi>{titleOf(step, words.untitled)}</bdi>
          </button>
        </li>
      ))}
      <li>
        <button
          type="button"
          class="chip add"
          disabled={!state.draft || steps.length >= 100}
          onClick={() => acts.pick('add')}
        >
          <Icon name="add" />
          {words.add}
        </button>
      </li>
    </ol>
  )
}

/** What the author clicks next, while an element is picked. */
const PickBar = ({ what, acts }: { what: 'target' | 'add'; acts: Acts }) => (
  <section class="bar picking" aria-label={words.builder}>
    <p role="status" class="state">
      <strong>{words.pickFor[what]}</strong> <span class="hint">{words.pickKeys}</span>
    </p>
    {what === 'add' && (
      <button type="button" class="plain" onClick={() => acts.use(null)}>
        {words.withoutElement}
      </button>
    )}
    <button type="button" class="plain" onClick={acts.stopPicking}>
      {words.cancel}
    </button>
  </section>
)

/** The bar across the window: the draft's steps, and what concerns all of them. */
export function Bar({ state, acts }: { state: State; acts: Acts }) {
  const { code, draft, isFrozen, isFolded, picking } = state
  const isUsable = !state.isOver && (!draft || isOfSteps(draft.flow))
  if (picking) return <PickBar what={picking} acts={acts} />
  return (
    <section class="bar" aria-label={words.builder}>
      <div class="about">
        <span class="product">{words.product}</span>
        <span class="code" title={words.codeWhy}>
          <span class="unseen">{words.code} </span>
          {code}
        </span>
        <Status {...state} />
        <div class="tools">
          {isUsable && (
            <>
              <IconButton
                icon="undo"
                label={words.undo}
                disabled={!draft?.canUndo}
                onClick={acts.undo}
              />
              <button
                type="button"
                class="plain"
                aria-pressed={isFrozen}
                title={words.freezeWhy}
                onClick={acts.freeze}
              >
                <Icon name="freeze" />
                <span class="wide-only">{words.freeze}</span>
              </button>
              <button
                type="button"
                class="plain"
                aria-expanded={!isFolded}
                onClick={() => acts.patch({ isFolded: !isFolded })}
              >
                <Icon name="edit" />
                <span class="wide-only">{isFolded ? words.unfold : words.fold}</span>
              </button>
            </>
          )}
          <IconButton icon="close" label={words.close} onClick={acts.close} />
        </div>
      </div>
      {isUsable && <Strip state={state} acts={acts} />}
    </section>
  )
}
