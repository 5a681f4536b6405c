import { analyticsWords as words } from '../words/analytics.ts'
import { formatDays } from '../words/time.ts'

/** Says what a printed page is about, because the controls that say so are not printed. */
export const PaperRange = ({
  from,
  to,
  zone,
  version,
}: {
  from: string
  to: string
  zone: string
  version: number | string | null
}) => <p class="on-paper">{words.paper(formatDays(from, to), zone, version)}</p>
