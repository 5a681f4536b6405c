import { minPeople, totalsOf } from '../../../core/step/health.ts'
import { type Column, Table } from '../parts/table.tsx'
import { healthWords as words } from '../words/health.ts'
import { formatAge, formatCount, formatMoment, formatShare, none } from '../words/time.ts'
import { type CheckedStep, isWell, type StepState } from './health.ts'

type PageOfStep = CheckedStep['pages'][number]

/** Since when the step has been in its bad state; null for a step that is well. */
function sinceOf({ state, missesSince, makeshiftSince }: CheckedStep): string | null {
  const isBad: Partial<Record<StepState, string | null>> = {
    broken: missesSince,
    flaky: missesSince,
    drifting: makeshiftSince ?? missesSince,
  }
  return isBad[state] ?? null
}

function Moment({ at, zone }: { at: string | null; zone: string }) {
  if (at === null) return <>{none}</>
  return (
    <>
      <time dateTime={at}>{formatMoment(at, zone)}</time> <small>{formatAge(at)}</small>
    </>
  )
}

/** The numbers from which a step's state is derived. */
export function StepFacts({ step, zone }: { step: CheckedStep; zone: string }) {
  const { people, finds, misses, makeshift } = totalsOf(step.people)
  const since = sinceOf(step)
  const told = Object.entries(step.people).filter(([, count]) => count > 0)
  return (
    <>
      {step.state === 'unknown' && <p>{words.needs(minPeople, people, step.version)}</p>}
      {people > 0 && (
        <dl class="facts">
          <div>
            <dt>{words.found}</dt>
            <dd>
              {words.foundBy(formatCount(finds), formatCount(people))}
              {people >= minPeople && <small> {formatShare(finds, people)}</small>}
            </dd>
          </div>
          {!isWell(step.state) && (
            <>
              <div>
                <dt>{words.affected}</dt>
                <dd>
                  {words.affectedBy(misses, makeshift)}
                  <small>
                    {' '}
                    {told
                      .filter(([outcome]) => outcome !== 'found')
                      .map(
                        ([outcome, count]) =>
                          `${count} ${words.outcomes[outcome as keyof typeof words.outcomes]}`,
                      )
                      .join(', ')}
                  </small>
                </dd>
              </div>
              <div>
                <dt>{words.since}</dt>
                <dd>{since ? <Moment at={since} zone={zone} /> : words.sinceUnknown}</dd>
              </div>
            </>
          )}
          <div>
            <dt>{words.lastFound}</dt>
            <dd>{step.lastFindAt ? <Moment at={step.lastFindAt} zone={zone} /> : words.never}</dd>
          </div>
        </dl>
      )}
    </>
  )
}

const columns: Column<PageOfStep>[] = [
  {
    name: words.page,
    isTitle: true,
    cell: ({ page }) => <span class="address">{page ?? words.unknownPage}</span>,
  },
  {
    name: words.reports,
    isNumber: true,
    cell: ({ reports }) => formatCount(reports),
  },
  {
    name: words.misses,
    isNumber: true,
    cell: ({ misses }) => formatCount(misses),
  },
  {
    name: words.makeshift,
    isNumber: true,
    cell: ({ makeshift }) => formatCount(makeshift),
  },
]

/** The pages on which the element was looked for, and the messages about it. */
export function StepPages({ step }: { step: CheckedStep }) {
  return (
    <>
      {step.pages.length > 0 && (
        <Table
          caption={words.pages}
          columns={columns}
          rows={step.pages}
          keyOf={({ page }) => page ?? ''}
        />
      )}
      {step.messages.length > 0 && (
        <>
          <h3>{words.messages}</h3>
          <ul class="messages">
            {step.messages.map(({ message, reports, lastAt }) => (
              <li key={message}>
                <q>{message}</q>{' '}
                <small>
                  {words.times(reports)}, {words.lastSaid(formatAge(lastAt))}
                </small>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
