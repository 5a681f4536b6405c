import { aligns, sides, stepKinds } from '../../../core/flow/names.ts'
import type { Plain } from '../../../core/flow/plain.ts'
import type { Step } from '../../snippet/parts.ts'
import { ButtonFields } from './button-fields.tsx'
import { Group, MarkdownField, Select, TextField } from './fields.tsx'
import { FormLink } from './form-link.tsx'
import { IconButton } from './icon.tsx'
import { PickedElement } from './picked-element.tsx'
import { QuestionFields } from './question-fields.tsx'
import { type Acts, isOfSteps, type State, stepIn } from './state.ts'
import { words } from './words.ts'

type Placement = Step['placement']

/** What stands beside an element has a side of it; what stands in a corner, the corner. */
const hasSide = ({ kind }: Step) => ['tooltip', 'hotspot', 'slideout'].includes(kind)

function PlaceFields({ step, acts }: { step: Step; acts: Acts }) {
  const { key, target, kind, placement, advance } = step
  /** A slide-out stands in one of four corners, whatever else is set. */
  const isCorner = kind === 'slideout'
  const place = (next: Partial<Placement>) =>
    acts.propose({ do: 'set', step: key, field: 'placement', value: { ...placement, ...next } })
  return (
    <Group title={words.element}>
      <div class="element">
        <code>{target?.selector ?? words.noElement}</code>
        <button type="button" class="plain" onClick={() => acts.pick('target')}>
          {words.pick}
        </button>
        {target && (
          <button
            type="button"
            class="plain"
            onClick={() => acts.propose({ do: 'target', step: key, target: null })}
          >
            {words.remove}
          </button>
        )}
      </div>
      <div class="pair">
        <Select
          label={words.kind}
          value={kind}
          options={stepKinds}
          onChange={value => acts.propose({ do: 'set', step: key, field: 'kind', value })}
        />
        <Select
          label={words.advance}
          value={advance.on}
          options={words.advances}
          only={advance.on === 'event' ? undefined : ['button', 'click']}
          onChange={on => {
            const value = { on, event: on === 'event' ? advance.event : null }
            acts.propose({ do: 'set', step: key, field: 'advance', value })
          }}
        />
      </div>
      {hasSide(step) && (
        <div class="pair">
          <Select
            label={words.side}
            value={isCorner && placement.side !== 'top' ? 'bottom' : placement.side}
            options={sides}
            only={isCorner ? ['top', 'bottom'] : undefined}
            onChange={side => place({ side })}
          />
          <Select
            label={words.align}
            value={isCorner && placement.align !== 'start' ? 'end' : placement.align}
            options={aligns}
            only={isCorner ? ['start', 'end'] : undefined}
            onChange={align => place({ align })}
          />
        </div>
      )}
    </Group>
  )
}

function MediaFields({
  step: { key, media },
  form,
  acts,
}: {
  step: Step
  form: string
  acts: Acts
}) {
  if (media?.video) return null
  const set = (value: Plain) => acts.type({ do: 'set', step: key, field: 'media', value })
  /** Another image has another size. */
  const setImage = (image: string) =>
    set(image === '' ? null : { image, ...(media?.alt !== undefined && { alt: media.alt }) })
  return (
    <Group title={words.image}>
      <TextField
        label={words.media}
        hint={words.mediaHint}
        max={2_048}
        value={media?.image ?? ''}
        onType={image => {
          // Any other beginning is not an address yet.
          if (image === '' || /^(https:\/\/[^/]|\/[^/])/.test(image)) setImage(image.trim())
        }}
      />
      {media?.image && (
        <TextField
          label={words.alt}
          max={500}
          value={media.alt ?? ''}
          onType={alt => set({ ...media, alt })}
        />
      )}
      <div>
        <FormLink form={form} step={key} label={words.upload} />
      </div>
    </Group>
  )
}

/** The fields of the step that is shown. */
export function StepPanel({ state, acts }: { state: State; acts: Acts }) {
  const { draft, picking, picked, isFolded, isOver } = state
  if (picked) return <PickedElement picked={picked} acts={acts} />
  const step = stepIn(draft?.flow, state.step)
  if (isOver || picking || isFolded || !draft || !isOfSteps(draft.flow)) return null
  if (!step) return <p class="panel note">{words.empty}</p>
  const { steps } = draft.flow
  const { position, key } = step
  const keyAt = (place: number) => steps[place]?.key ?? null
  const set = (field: 'title' | 'body') => (value: string) =>
    acts.type({ do: 'set', step: key, field, value })
  return (
    <section class="panel" aria-label={words.step(position + 1, steps.length)}>
      <header>
        <h2>{words.step(position + 1, steps.length)}</h2>
        <IconButton
          icon="earlier"
          label={words.earlier}
          disabled={position === 0}
          onClick={() => acts.propose({ do: 'move', step: key, after: keyAt(position - 2) })}
        />
        <IconButton
          icon="later"
          label={words.later}
          disabled={position === steps.length - 1}
          onClick={() => acts.propose({ do: 'move', step: key, after: keyAt(position + 1) })}
        />
        <IconButton
          icon="delete"
          label={words.delete}
          onClick={() => acts.propose({ do: 'delete', step: key })}
        />
        <IconButton
          icon="move"
          label={words.move}
          onClick={() => acts.patch({ isOtherSide: !state.isOtherSide })}
        />
      </header>
      <div class="fields" key={key}>
        <TextField label={words.title} max={200} value={step.title} onType={set('title')} />
        <MarkdownField label={words.text} max={10_000} value={step.body} onType={set('body')} />
        <PlaceFields step={step} acts={acts} />
        <ButtonFields step={step} startable={draft.startable} acts={acts} />
        <QuestionFields step={step} acts={acts} />
        <MediaFields step={step} form={state.form} acts={acts} />
      </div>
    </section>
  )
}
