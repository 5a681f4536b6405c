import { Icon } from '../../parts/icon.tsx'
import { editorWords as words } from '../../words/editor.ts'
import type { FlowProblem } from './parts.ts'
import type { GoTo } from './yaml-editor.tsx'

/** What is wrong with the text. Each problem links to its place. */
export function ProblemList({
  problems,
  state,
  isBrief = false,
  onGo,
}: {
  problems: readonly FlowProblem[]
  state: 'judging' | 'failing' | 'judged'
  /** Whether the number of problems is enough, because each is shown at its field. */
  isBrief?: boolean
  onGo(place: GoTo): void
}) {
  const count = (level: FlowProblem['severity']) =>
    problems.filter(({ severity }) => severity === level).length
  const told =
    state === 'failing'
      ? words.notJudged
      : state === 'judging'
        ? words.judging
        : problems.length === 0
          ? words.noProblems
          : words.counted(count('error'), count('warning'))
  return (
    <section class="problem-list" aria-label={words.problems}>
      <p class="problem-count" role="status" aria-busy={state === 'judging'}>
        {state === 'judged' && problems.length === 0 && <Icon name="done" />}
        {told}
      </p>
      {problems.length > 0 && !isBrief && (
        <ul>
          {problems.map(({ severity, message, line, column }, i) => {
            const inside = (
              <>
                <Icon name={severity === 'error' ? 'warning' : 'info'} />
                <span class="problem-text">
                  <span class="unseen">{words[severity]}: </span>
                  {message}
                </span>
                {line !== null && <span class="problem-line">{words.line(line)}</span>}
              </>
            )
            return (
              <li key={i} class={severity}>
                {line === null ? (
                  <span>{inside}</span>
                ) : (
                  <button type="button" onClick={() => onGo({ line, column: column ?? 1 })}>
                    {inside}
                  </button>
                )}
              </li>
            )
          })}
        </ul>
      )}
    </section>
  )
}
