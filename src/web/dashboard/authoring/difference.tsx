import type { DiffAnswer } from '../../../modules/authoring/schema.ts'
import { Facts } from '../parts/facts.tsx'
import { formatCount } from '../parts/format.ts'
import { type DiffLine, linesOf } from './diff-lines.ts'

export type { DiffAnswer }

const changes = {
  added: 'added',
  returning: 'brought back',
  removed: 'removed',
  moved: 'moved',
} as const

const kinds = Object.keys(changes) as (keyof typeof changes)[]

const signs = { added: '+', removed: '−', same: ' ' } as const

function Line({ line: { kind, text, line } }: { line: DiffLine }) {
  if (kind === 'place') return <li class="place">Line {line}</li>
  return (
    <li class={kind}>
      <span class="sign" aria-hidden="true">
        {signs[kind]}
      </span>
      {kind !== 'same' && <span class="unseen">{kind === 'added' ? 'Added: ' : 'Removed: '}</span>}
      <code>{text}</code>
    </li>
  )
}

/** Steps, or items, that are added, removed and moved. */
const factsOf = (noun: string, changed: DiffAnswer['steps']) =>
  kinds
    .filter(kind => changed[kind].length > 0)
    .map(
      kind =>
        [
          `${noun} ${changes[kind]}`,
          changed[kind].map(key => <code key={key}>{key}</code>),
        ] as const,
    )

const isSame = (changes: DiffAnswer['steps']) =>
  Object.values(changes).every(keys => keys.length === 0)

/** The difference between two texts of a flow: in short, and line by line. */
export function Difference({
  of: { steps, items, diff },
  from,
  to,
}: {
  of: DiffAnswer
  from: string
  to: string
}) {
  const name = `From ${from} to ${to}`
  if (diff === '') return <p>No differences</p>
  const lines = linesOf(diff)
  const count = (kind: DiffLine['kind']) => lines?.filter(line => line.kind === kind).length ?? 0
  return (
    <div class="stack gap-3 min-0">
      {isSame(steps) && isSame(items) ? (
        <p>Same steps in the same order. Only their texts or settings differ.</p>
      ) : (
        <Facts of={[...factsOf('Steps', steps), ...factsOf('Items', items)]} />
      )}
      {lines === null ? (
        <p>Too many differences to show line by line.</p>
      ) : (
        <>
          <p class="hint">
            {name}: {formatCount(count('added'))} {count('added') === 1 ? 'line' : 'lines'} added,{' '}
            {formatCount(count('removed'))} removed
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
          <section class="diff framed" dir="ltr" tabIndex={0} aria-label={name}>
            <ol>
              {lines.map((line, i) => (
                <Line key={i} line={line} />
              ))}
            </ol>
          </section>
        </>
      )}
    </div>
  )
}
