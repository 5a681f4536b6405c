import { Badge } from '../parts/badge.tsx'
import { formatDateTime, formatPercent, none } from '../parts/format.ts'
import type { CheckedStep } from './health.ts'

type Print = NonNullable<CheckedStep['fingerprints']['baseline']>

const partLabels = {
  selector: 'Selector',
  matchCount: 'Elements matched',
  tag: 'Tag',
  id: 'ID',
  testId: 'Test ID',
  role: 'Role',
  name: 'Name',
  ariaLabel: 'Label',
  text: 'Text',
  textHash: 'Text (hash)',
  classes: 'Classes',
  attributes: 'Attributes',
  ancestors: 'Inside',
}
type PartName = keyof typeof partLabels

const partNames = Object.keys(partLabels) as PartName[]

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
export function Element({ step }: { step: CheckedStep }) {
  const { baseline, baselineAt, latest } = step.fingerprints
  if (!baseline) return <p class="hint">No page has reported this element yet.</p>
  const now = latest?.fingerprint ?? null
  const rows = partNames
    .map(part => ({ part, was: textOf(baseline, part), is: textOf(now, part) }))
    .filter(({ was, is }) => was !== null || is !== null)
  return (
    <>
      <table class="table element">
        <caption class="unseen">Element before and now</caption>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">
              Before <small>{baselineAt && formatDateTime(baselineAt)}</small>
            </th>
            <th scope="col">
              Now <small>{latest && formatDateTime(latest.at)}</small>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ part, was, is }, i) => {
            const isChanged = now !== null && was !== is
            return (
              <tr key={part}>
                <th scope="row">{partLabels[part]}</th>
                <td data-name="Before">{was === null ? none : <code>{was}</code>}</td>
                {now ? (
                  <td data-name="Now">
                    <span>
                      {is === null ? none : <code class={isChanged ? 'is-changed' : ''}>{is}</code>}{' '}
                      {isChanged && <Badge tone="warn">changed</Badge>}
                    </span>
                  </td>
                ) : (
                  i === 0 && (
                    <td class={latest ? 'not-there' : 'soft'} rowSpan={rows.length} data-name="Now">
                      {latest ? 'Not found on the page' : 'Not checked since'}
                    </td>
                  )
                )}
              </tr>
            )
          })}
        </tbody>
      </table>
      {now && latest && <p class="hint">{formatPercent(latest.score)} like before</p>}
    </>
  )
}
