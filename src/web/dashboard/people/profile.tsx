import { Facts } from '../parts/facts.tsx'
import { formatDateTime } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import type { PersonHistory } from './person.ts'

/** Who somebody is: their traits as last reported, when they were seen, and where. */
export function Profile({ of }: { of: NonNullable<PersonHistory['profile']> }) {
  const { firstSeenAt, lastSeenAt, traits, pages } = of
  return (
    <Part title="Profile">
      <Facts
        of={[
          ['Last seen', formatDateTime(lastSeenAt)],
          ['First seen', formatDateTime(firstSeenAt)],
          ...Object.entries(traits),
        ]}
      />
      {pages.length > 0 && (
        <details class="footnote">
          <summary>Recent pages ({pages.length})</summary>
          <ul class="stack gap-1">
            {pages.map(({ url, lastSeenAt: at }) => (
              <li key={url}>
                {url} <small class="hint">{formatDateTime(at)}</small>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Part>
  )
}
