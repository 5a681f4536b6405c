import { Badge } from '../parts/badge.tsx'
import { healthWords as words } from '../words/health.ts'
import { formatMoment, formatPercent, none } from '../words/time.ts'
import type { CheckedStep } from './health.ts'

type Print = NonNullable<CheckedStep['fingerprints']['baseline']>
type PartName = keyof typeof words.parts

const partNames = Object.keys(words.parts) as PartName[]

/** One part of an element's fingerprint as readable text; null if it has none. */
function textOf(print: Print | null, part: PartName): string | null {
  const value = print?.[part]
  if (print === null || value === undefined) return null
  switch (part) {
    case 'testId':
      return `${print.testId!.attr}="${print.testId!.value}"`
    case 'textHash':
      return `${print.textHash!.slice(0, 12)}…`
    case 'classes':
      return print.classes!.map(name => `.${name}`).join(' ')
    case 'attributes':
      return Object.entries(print.attributes!)
        .map(([name, text]) => `${name}="${text}"`)
        .join(' ')
    case 'ancestors':
      return print.ancestors!.map(ancestorText).join(' › ')
    default:
      return String(value)
  }
}

function ancestorText({ tag, id, role, testId }: NonNullable<Print['ancestors']>[number]): string {
  const named = `${tag ?? '*'}${id ? `#${id}` : ''}`
  return [named, role && `role ${role}`, testId && `test id ${testId}`].filter(Boolean).join(', ')
}

/** What a step's element was like and what it is like now, with changes marked. */
export function Element({ step, zone }: { step: CheckedStep; zone: string }) {
  const { baseline, baselineAt, latest } = step.fingerprints
  if (!baseline) return <p class="hint">{words.noBaseline}</p>
  const now = latest?.fingerprint ?? null
  const rows = partNames
    .map(part => ({ part, was: textOf(baseline, part), is: textOf(now, part) }))
    .filter(({ was, is }) => was !== null || is !== null)
  return (
    <>
      <table class="table element">
        <caption class="unseen">{words.element}</caption>
        <thead>
          <tr>
            <th scope="col">{words.part}</th>
            <th scope="col">
              {words.baseline} <small>{baselineAt && formatMoment(baselineAt, zone)}</small>
            </th>
            <th scope="col">
              {words.now} <small>{latest && formatMoment(latest.at, zone)}</small>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ part, was, is }, i) => {
            const isChanged = now !== null && was !== is
            return (
              <tr key={part}>
                <th scope="row">{words.parts[part]}</th>
                <td data-name={words.baseline}>{was === null ? none : <code>{was}</code>}</td>
                {now ? (
                  <td data-name={words.now}>
                    <span>
                      {is === null ? none : <code class={isChanged ? 'is-changed' : ''}>{is}</code>}{' '}
                      {isChanged && <Badge tone="warn">{words.changed}</Badge>}
                    </span>
                  </td>
                ) : (
                  i === 0 && (
                    <td
                      class={latest ? 'not-there' : 'not-there hint'}
                      rowSpan={rows.length}
                      data-name={words.now}
                    >
                      {latest ? words.gone : words.notLooked}
                    </td>
                  )
                )}
              </tr>
            )
          })}
        </tbody>
      </table>
      {now && latest && <p class="hint">{words.like(formatPercent(latest.score))}</p>}
    </>
  )
}
