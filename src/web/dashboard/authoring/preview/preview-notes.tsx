import type { Flow, Item, Step } from '../../../../core/flow/flow.ts'
import { shownAs } from '../../../../core/flow/shown-as.ts'
import { Button } from '../../parts/button.tsx'
import { previewWords as words } from '../../words/preview.ts'

/** An event that takes the part further, with a button that triggers it. */
const Event = ({ why, name, onTrack }: { why: string; name: string; onTrack: Track }) => (
  <li class="preview-event">
    <span>
      {why} <code>{name}</code>
    </span>
    <Button onClick={() => onTrack(name)}>{words.report}</Button>
  </li>
)

type Track = (name: string) => void

function StepNotes({ step, onTrack }: { step: Step; onTrack: Track }) {
  const { target, page, kind, advance, opens } = step
  return (
    <>
      {target && !['modal', 'banner', 'slideout'].includes(kind) && (
        <li>
          {words.standIn}: <code>{target.selector}</code>
        </li>
      )}
      {kind === 'hotspot' && target && <li>{opens === 'hover' ? words.hint : words.dot}</li>}
      {advance.on === 'click' && target && <li>{words.byClick}</li>}
      {advance.on === 'event' && advance.event && (
        <Event why={words.byEvent} name={advance.event} onTrack={onTrack} />
      )}
      {page && (
        <li>
          {words.onPage[page.match]} <code>{page.pattern}</code>. {words.onPageElse}
        </li>
      )}
    </>
  )
}

const ItemNotes = ({ item, onTrack }: { item: Item; onTrack: Track }) =>
  item.completeOn && (
    <Event why={words.ticksByEvent} name={item.completeOn.event} onTrack={onTrack} />
  )

/** Says what a preview cannot show of a part. */
export function PreviewNotes({
  flow,
  at,
  onTrack,
}: {
  flow: Flow
  at: string | null
  onTrack: Track
}) {
  const isList = shownAs(flow) === 'checklist'
  const step = isList ? undefined : flow.steps.find(({ key }) => key === at)
  const item = isList ? flow.checklist?.items.find(({ key }) => key === at) : undefined
  return (
    <ul class="preview-notes">
      {step && <StepNotes step={step} onTrack={onTrack} />}
      {item && <ItemNotes item={item} onTrack={onTrack} />}
      <li>{words.muted}</li>
    </ul>
  )
}
