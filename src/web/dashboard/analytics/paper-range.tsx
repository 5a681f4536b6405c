import { formatDays, zoneName } from '../parts/format.ts'
import type { Question } from './question.ts'

/** Says what a printed page is about, because the controls that say so are not printed. */
export const PaperRange = ({ from, to, zone, version }: Question) => (
  <p class="on-paper">
    {formatDays(from, to)}, {zoneName(zone)},{' '}
    {version === null ? 'all versions' : `version ${version}`}
  </p>
)
