import type { DiffAnswer } from '../../../modules/authoring/schema.ts'
import { Facts } from '../parts/facts.tsx'
import { versionWords as words } from '../words/versions.ts'
import { type DiffLine, linesOf } from './diff-lines.ts'

export type { DiffAnswer }

const signs = { added: '+', removed: '−', same: ' ' } as const

function Line({ line: { kind, text, line } }: { line: DiffLine }) {
  if (kind === 'place') return <li class="place">{words.at(line)}</li>
  return (
    <li class={kind}>
      <span class="sign" aria-hidden="true">
        {signs[kind]}
      </span>
      {kind !== 'same' && <span class="unseen">{words[kind]} </span>}
      <code>{text}</code>
    </li>
  )
}

/** Steps, or items, that are added, removed and moved. */
const factsOf = (changes: DiffAnswer['steps'], names: (typeof words)['steps' | 'items']) =>
  (['added', 'returning', 'removed', 'moved'] as const)
    .filter(kind => changes[kind].length > 0)
    .map(kind => [names[kind], changes[kind].map(key => <code key={key}>{key}</code>)] as const)

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
  if (diff === '') return <p>{words.same}</p>
  const lines = linesOf(diff)
  const count = (kind: DiffLine['kind']) => lines?.filter(line => line.kind === kind).length ?? 0
  return (
    <div class="difference">
      {isSame(steps) && isSame(items) ? (
        <p>{words.onlyWords}</p>
      ) : (
        <Facts of={[...factsOf(steps, words.steps), ...factsOf(items, words.items)]} />
      )}
      {lines === null ? (
        <p>{words.diffLong}</p>
      ) : (
        <>
          <p class="hint">
            {words.diffOf(from, to)}: {words.lines(count('added'), count('removed'))}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
          <section class="diff" dir="ltr" tabIndex={0} aria-label={words.diffOf(from, to)}>
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
