import type { IdentityAnswer } from '../../../modules/organisations/schema.ts'
import { Part } from '../parts/part.tsx'
import { installationWords as words } from '../words/installation.ts'
import { formatCount, formatSeconds } from '../words/time.ts'
import type { Installation } from './state.ts'

const secondMs = 1_000

function skewIn(ms: number | null): string {
  if (ms === null) return words.none
  if (Math.abs(ms) < secondMs) return words.skewNone
  const time = formatSeconds(Math.abs(ms) / secondMs)
  return ms > 0 ? words.skewBehind(time) : words.skewAhead(time)
}

/** How calls that named a user were signed. Only owners see this. */
function Identity({ of: { mode, last24h } }: { of: IdentityAnswer }) {
  const { valid, outdated, invalid, missing } = last24h
  return (
    <div>
      <dt>{words.identity}</dt>
      <dd>
        {words.identityMode[mode]}
        {mode !== 'off' && (
          <small>
            {words.identityCounts(
              formatCount(valid + outdated),
              formatCount(invalid),
              formatCount(missing),
            )}
          </small>
        )}
      </dd>
    </div>
  )
}

/** What pages and back ends have reported about themselves. Counts are of the last 24 hours. */
export function Facts({
  of: { snippetVersion, skewMsMedian, rejected24h, erased24h },
  identity,
}: {
  of: Installation
  /** Null for those who may not see it. */
  identity: IdentityAnswer | null
}) {
  const rejected = Object.entries(rejected24h).sort(([, a], [, b]) => b - a)
  return (
    <Part title={words.facts} beside={<span class="hint">{words.last24h}</span>}>
      <dl class="seen-facts">
        <div>
          <dt>{words.snippetVersion}</dt>
          <dd>{snippetVersion ?? words.none}</dd>
        </div>
        <div>
          <dt>{words.skew}</dt>
          <dd>{skewIn(skewMsMedian)}</dd>
        </div>
        <div>
          <dt>{words.rejected}</dt>
          <dd>
            {rejected.length === 0
              ? words.none
              : rejected
                  .map(([code, count]) => words.rejectedOf(formatCount(count), code))
                  .join(', ')}
          </dd>
        </div>
        <div>
          <dt>{words.erased}</dt>
          <dd>{formatCount(erased24h)}</dd>
        </div>
        {identity && <Identity of={identity} />}
      </dl>
    </Part>
  )
}
