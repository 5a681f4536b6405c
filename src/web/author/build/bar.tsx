import { FormLink } from './form-link.tsx'
import { Icon, IconButton } from './icon.tsx'
import { type Acts, isOfSteps, type State } from './state.ts'
import { Strip } from './strip.tsx'
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
  const { code, form, draft, isFrozen, isFolded, isOver, picking } = state
  const isInForm = !isOver && draft !== null && !isOfSteps(draft.flow)
  const isUsable = !isOver && !isInForm
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
          {isInForm && <FormLink form={form} />}
          <IconButton icon="close" label={words.close} onClick={acts.close} />
        </div>
      </div>
      {isUsable && <Strip state={state} acts={acts} />}
    </section>
  )
}
