import { ownRunKey } from '../../core/run/run.ts'
import type { ErasureWork } from './erasure-work.ts'
import { isPerson } from './person-matcher.ts'
import type { Traces } from './traces.ts'

/** The key of a run (`runKeyOf`) once the person's names are others. */
export function runKeyAfter(
  { person, pseudonyms }: ErasureWork,
  traces: Traces,
  flowRow: number,
  key: string,
): string {
  if (key.startsWith('r')) {
    const runId = key.slice(1)
    return traces.isRenamed(flowRow, runId) ? `r${pseudonyms.run(flowRow, runId)}` : key
  }
  const isOfSession = key.startsWith('s')
  if (!isOfSession && !key.startsWith('p')) return key
  const [of, sessionId] = isOfSession
    ? (JSON.parse(key.slice(1)) as [string, string])
    : ([key.slice(1), null] as const)
  if (!isPerson(person, of)) return key
  const name = `${of[0]}${pseudonyms.person(flowRow)}`
  if (sessionId === null) return ownRunKey(name)
  return `s${JSON.stringify([name, pseudonyms.session(flowRow, sessionId)])}`
}
