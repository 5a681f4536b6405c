import { minPeople, totalsOf } from '../../../core/step/health.ts'
import { formatAge, formatCount } from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import { type CheckedStep, sayFound } from './health.ts'

type PageOfStep = CheckedStep['pages'][number]

const outcomeNames: Readonly<Record<string, string>> = {
  found_by_alternate: 'found by fallback',
  changed: 'found changed',
  ambiguous: 'several matches',
  hidden: 'hidden',
  not_found: 'not found',
  error: 'error',
}

/** The numbers from which a step's state is derived. */
export function StepFacts({ step }: { step: CheckedStep }) {
  const { people } = totalsOf(step.people)
  const others = Object.entries(step.people).filter(
    ([outcome, count]) => outcome !== 'found' && count > 0,
  )
  return (
    <>
      <p>
        {sayFound(step)}
        {others.length > 0 &&
          ` (${others.map(([outcome, count]) => `${outcomeNames[outcome]} for ${formatCount(count)}`).join(', ')})`}
        .{' '}
        {people > 0 &&
          (step.lastFindAt
            ? `Last found ${formatAge(step.lastFindAt)}.`
            : 'Not found in the last 24 hours.')}
      </p>
      {step.state === 'unknown' && (
        <p class="hint">
          Not enough data: {people} of {minPeople} people in the last 24 hours, with version{' '}
          {step.version}.
        </p>
      )}
    </>
  )
}

const columns: Column<PageOfStep>[] = [
  {
    name: 'Page',
    isTitle: true,
    value: ({ page }) => page ?? 'Unknown',
    cell: ({ page }) => <span class="break">{page ?? 'Unknown'}</span>,
  },
  { name: 'Reports', isNumber: true, value: ({ reports }) => reports },
  { name: 'Not found', isNumber: true, value: ({ misses }) => misses },
  { name: 'By fallback', isNumber: true, value: ({ fallback }) => fallback },
]

/** The pages on which the element was looked for, and the messages about it. */
export function StepPages({ step }: { step: CheckedStep }) {
  return (
    <>
      {step.pages.length > 0 && (
        <Table
          caption="Pages that looked for the element in the last 24 hours"
          file={`${step.flow}-${step.step}-pages`}
          columns={columns}
          rows={step.pages}
          keyOf={({ page }) => page ?? ''}
        />
      )}
      {step.messages.length > 0 && (
        <>
          <h3>Messages from pages</h3>
          <ul class="stack gap-1">
            {step.messages.map(({ message, reports, lastAt }) => (
              <li key={message}>
                <q>{message}</q>{' '}
                <small>
                  {reports === 1 ? 'once' : `${reports} times`}, last {formatAge(lastAt)}
                </small>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
