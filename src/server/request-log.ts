import type { RequestSummary } from '../app.ts'
import { reasonOf } from '../core/text/reason.ts'
import { isoTime } from '../core/time/clock.ts'
import { methodLabel } from './counters.ts'
import type { ThreadLog } from './log.ts'

/** A 500 is our fault; a 503 is a promise kept, yet somebody must act; all else is daily life. */
function levelOf(status: number): 'info' | 'warn' | 'error' {
  if (status < 500) return 'info'
  return status === 503 ? 'warn' : 'error'
}

/** One line a request: who, which route, what came of it and in what time. Never what was sent. */
export function requestLog({ thread, log, lines }: ThreadLog) {
  const daily = log.isLevelEnabled('info')
  let time = ''
  let timeAt = 0

  /** Many lines share a millisecond. */
  function timeNow(): string {
    const now = Date.now()
    if (now !== timeAt) {
      time = isoTime(now)
      timeAt = now
    }
    return time
  }

  return (answered: RequestSummary, remark = ''): void => {
    const { requestId, route, organisation, status, code, cause, error } = answered
    const level = levelOf(status)
    const isDaily = level === 'info' && remark === '' && error === undefined
    if (isDaily ? !daily : !log.isLevelEnabled(level)) return
    const method = methodLabel(answered.method)
    const durationMs = Math.round(answered.durationMs * 1000) / 1000
    const msg = `${method} ${route ?? '(no route)'} ${remark}`.trimEnd()
    if (isDaily && lines) {
      // Not by the library, which takes four times as long: a tenth of what a small answer costs. No
      // text in it needs more escapes than these, for all of them are ours.
      const line = {
        level,
        time: timeNow(),
        thread,
        requestId,
        route,
        organisation,
        status,
        code,
        cause,
        method,
        durationMs,
        msg,
      }
      lines.write(`${JSON.stringify(line)}\n`)
      return
    }
    const line = { requestId, route, organisation, status, code, cause, method, durationMs }
    log[level](error === undefined ? line : { ...line, reason: reasonOf(error) }, msg)
  }
}
