import { namesOf } from '../outbox.ts'
import { hashOf } from '../page-values.ts'
import type { FingerprintReport, HealthReport } from '../parts.ts'
import { isWithin } from '../recency.ts'
import type { StageDeps } from '../stage.ts'

/** For this long, a step's element that looks as it did is not reported again. */
const sameAgainMs = 24 * 3_600_000
const maxLooks = 50

/** What was last reported of a step's element, and when. */
type ReportedLook = [stepId: string, look: number, at: number]

/** Reports how the elements of steps fare and what they look like. */
export interface StepReports {
  health(stepId: string, report: HealthReport): void
  fingerprint(stepId: string, report: FingerprintReport): void
}

/** Other visits report the same, so a report is not stored, and is dropped if the server rejects it. */
export function createStepReports({
  outbox,
  transport,
  store,
  person,
  feed,
  url,
  version,
  page,
}: StageDeps): StepReports {
  /** @returns whether it was taken */
  const send = async (bucket: 'health' | 'fingerprint', stepId: string, body: object) => {
    await outbox.settled()
    // In a crowd only a few browsers report what they have seen of elements.
    if (!outbox.maySpeak() || !feed.isHeard()) return false
    const all = { ...body, url: url(), snippetVersion: version }
    const response = await transport.tell(bucket, `/steps/${stepId}/${bucket}`, all)
    return response?.ok === true
  }

  const sendHealth = async (stepId: string, body: object, isMiss: boolean) => {
    const isTaken = await send('health', stepId, body)
    // Misses are retried, because they are few, and the purpose of the report.
    const pauseMs = transport.pauseMs('health')
    if (!isTaken && isMiss && pauseMs > 0) {
      page.setTimeout(() => sendHealth(stepId, body, false), pauseMs)
    }
  }

  const sendFingerprint = async (stepId: string, report: FingerprintReport) => {
    // The element's position says more about the window than about the element.
    const look = hashOf(JSON.stringify({ ...report.fingerprint, rect: 0, v: report.flowVersion }))
    const kept = store.get<ReportedLook[]>('looks')
    const known = Array.isArray(kept) ? kept.filter(([, , at]) => isWithin(at, sameAgainMs)) : []
    if (known.some(([step, before]) => step === stepId && before === look)) return
    const locale = page.document.documentElement.lang || page.navigator.language
    const viewport = { width: page.innerWidth, height: page.innerHeight }
    if (!(await send('fingerprint', stepId, { ...report, locale, viewport }))) return
    const others = known.filter(([step]) => step !== stepId)
    store.set('looks', [[stepId, look, Date.now()], ...others].slice(0, maxLooks))
  }

  return {
    health(stepId, report) {
      const body = { ...report, ...namesOf(person.current) }
      sendHealth(stepId, body, !report.outcome.startsWith('found')).catch(() => {})
    },
    fingerprint(stepId, report) {
      sendFingerprint(stepId, report).catch(() => {})
    },
  }
}
