import { isFullHour } from '../../../core/time/durations.ts'
import { momentHere } from '../analytics/zone.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Icon } from '../parts/icon.tsx'
import { Part } from '../parts/part.tsx'
import { installationWords as words } from '../words/installation.ts'
import { formatAge } from '../words/time.ts'
import type { Installation } from './state.ts'

const toneOf: Record<Installation['findings'][number]['severity'], Tone> = {
  error: 'bad',
  warning: 'warn',
  info: 'neutral',
}

/** The problems, each with what to do about it. */
export const Findings = ({ findings }: Pick<Installation, 'findings'>) => (
  <Part title={words.findings}>
    {findings.length === 0 ? (
      <p class="all-well">
        <Icon name="done" /> {words.noFindings}
      </p>
    ) : (
      <ul class="findings">
        {findings.map(({ severity, code, message, fix, since }) => (
          <li key={`${code} ${message}`}>
            <span class="need-state">
              <Badge tone={toneOf[severity]}>{words.severity[severity]}</Badge>
            </span>
            <div>
              <strong>{message}</strong>
              <p class="hint">{fix}</p>
              {since && (
                <p class="hint">
                  {isFullHour(since) ? words.firstSeenInHour : words.firstSeen}{' '}
                  <time dateTime={since}>{momentHere(since)}</time>
                  {!isFullHour(since) && `, ${formatAge(since)}`}
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    )}
  </Part>
)
