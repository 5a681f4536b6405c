import { analyticsWords as words } from '../words/analytics.ts'
import { formatDay } from '../words/time.ts'

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
}) => <p class="on-paper">{words.paper(formatDay(from), formatDay(to), zone, version)}</p>
