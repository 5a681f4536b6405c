import { Icon } from '../../parts/icon.tsx'
import type { FlowProblem } from '../form/form.ts'
import type { GoTo } from './yaml-editor.tsx'

const counted = (problems: readonly FlowProblem[], severity: FlowProblem['severity']) => {
  const count = problems.filter(problem => problem.severity === severity).length
  return count === 0 ? [] : [`${count} ${severity}${count === 1 ? '' : 's'}`]
}

/** What is wrong with the YAML. Each problem links to its place. */
export function ProblemList({
  problems,
  state,
  onGo,
}: {
  problems: readonly FlowProblem[]
  state: 'judging' | 'failing' | 'judged'
  onGo(place: GoTo): void
}) {
  const counts = [...counted(problems, 'error'), ...counted(problems, 'warning')]
  const text =
    state === 'failing'
      ? 'Could not check. Trying again.'
      : state === 'judging'
        ? 'Checking…'
        : counts.join(', ') || 'No problems'
  return (
    <section class="stack gap-1 fine" aria-label="Problems">
      <p class="soft" role="status" aria-busy={state === 'judging'}>
        {text}
      </p>
      {problems.length > 0 && (
        <ul class="framed">
          {problems.map(({ severity, message, line, column }, i) => (
            <li key={i} class={severity}>
              <button
                type="button"
                class="problem-row line start"
                onClick={() => onGo({ line: line ?? 1, column: column ?? 1 })}
              >
                <Icon name={severity === 'error' ? 'warning' : 'info'} />
                <span class="grow break">
                  <span class="unseen">{severity === 'error' ? 'Error' : 'Warning'}: </span>
                  {message}
                </span>
                {line !== null && <span class="soft number">Line {line}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
