import { isFullHour } from '../../../core/time/durations.ts'
import { momentHere } from '../analytics/zone.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { formatAge } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { Part } from '../parts/part.tsx'
import type { Installation } from './state.ts'

type Finding = Installation['findings'][number]

const severities: Record<Finding['severity'], readonly [tone: Tone, name: string]> = {
  error: ['bad', 'Error'],
  warning: ['warn', 'Warning'],
  info: ['neutral', 'Note'],
}

/** Counts by the hour say no more than the hour. */
const First = ({ at }: { at: string }) => (
  <p class="hint">
    {isFullHour(at) ? 'First seen in the hour of' : 'First seen'}{' '}
    <time dateTime={at}>{momentHere(at)}</time>
    {!isFullHour(at) && `, ${formatAge(at)}`}
  </p>
)

/** The problems, each with its fix. */
export const Findings = ({ findings }: Pick<Installation, 'findings'>) => (
  <Part title="Problems">
    {findings.length === 0 ? (
      <p class="good line soft">
        <Icon name="done" /> No problems found
      </p>
    ) : (
      <ul class="framed entries">
        {findings.map(({ severity, code, message, fix, since }) => (
          <li key={`${code} ${message}`}>
            <span class="need-state">
              <Badge tone={severities[severity][0]}>{severities[severity][1]}</Badge>
            </span>
            <div class="grow">
              <strong>{message}</strong>
              <p class="hint">{fix}</p>
              {since && <First at={since} />}
            </div>
          </li>
        ))}
      </ul>
    )}
  </Part>
)
