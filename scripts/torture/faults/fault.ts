import type { Check } from '../result.ts'
import type { Site } from '../site.ts'

/** Something that is done to a site while its load goes on. */
export interface Fault {
  /** What happens to the server, in half a sentence. */
  what: string
  /** What it needs and this machine does not have; null if it can be tried. */
  missing?(): string | null
  /** How often it is repeated in the long form, each time on a site of its own. */
  longRounds: number
  /** Ends with `site.finish()`, which compares what is stored with the journals. */
  run(site: Site, isLong: boolean): Promise<Check[]>
}
