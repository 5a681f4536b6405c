import { analyticsWords as words } from '../words/analytics.ts'
import { formatDay } from '../words/time.ts'

/** What a printed page is about, on which the controls that say it are not. */
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
}) => <p class="on-paper">{words.paper(formatDay(from), formatDay(to), zone, version)}</p>
