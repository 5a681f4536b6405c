import type { Flow, Item, Step } from '../../../../core/flow/flow.ts'
import { itemsOf } from '../../../../core/flow/items.ts'
import { matchNames } from '../../../../core/flow/names.ts'
import { shownAs } from '../../../../core/flow/shown-as.ts'
import { Button } from '../../parts/button.tsx'

type Track = (name: string) => void

/** An event that takes the part further, with a button that sends it. */
const Event = ({ why, name, onTrack }: { why: string; name: string; onTrack: Track }) => (
  <li class="row">
    <span>
      {why} <code>{name}</code>
    </span>
    <Button onClick={() => onTrack(name)}>Send it here</Button>
  </li>
)

function StepNotes({ step, onTrack }: { step: Step; onTrack: Track }) {
  const { target, page, kind, advance, opens } = step
  return (
    <>
      {target && !['modal', 'banner', 'slideout'].includes(kind) && (
        <li>A grey block stands for your page’s element.</li>
      )}
      {kind === 'hotspot' && target && (
        <li>
          {opens === 'hover'
            ? 'Visitors see a dot first. The text shows while the mouse or the keyboard is on it.'
            : 'Visitors see a dot first. Press it to open the text.'}
        </li>
      )}
      {advance.on === 'click' && target && <li>Click the grey block to continue.</li>}
      {advance.on === 'event' && advance.event && (
        <Event why="Continues when your page sends" name={advance.event} onTrack={onTrack} />
      )}
      {step.buttons.some(({ action }) => action === 'start') && (
        <li>A button of this step starts another flow, which this preview does not show.</li>
      )}
      {page && (
        <li>
          Shown if the page address {matchNames[page.match]} <code>{page.pattern}</code>. Elsewhere
          visitors read that the tour continues there.
        </li>
      )}
    </>
  )
}

const ItemNotes = ({ item, onTrack }: { item: Item; onTrack: Track }) => (
  <>
    {item.completeOn && (
      <Event why="Completed when your page sends" name={item.completeOn.event} onTrack={onTrack} />
    )}
    {item.flow && <li>A click starts another flow, which this preview does not show.</li>}
  </>
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
  const isList = shownAs(flow) !== 'steps'
  const step = isList ? undefined : flow.steps.find(({ key }) => key === at)
  const item = isList ? itemsOf(flow).find(({ key }) => key === at) : undefined
  return (
    <ul class="stack gap-1 fine">
      {step && <StepNotes step={step} onTrack={onTrack} />}
      {item && <ItemNotes item={item} onTrack={onTrack} />}
      <li>Nothing is counted. Targeting and frequency are ignored. Tab leaves the preview.</li>
    </ul>
  )
}
