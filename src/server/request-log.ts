import type { Answered } from '../app.ts'
import { reasonOf } from '../core/reason.ts'
import { methodLabel } from './http-counters.ts'
import type { Log } from './log.ts'

/** A 500 is our fault; a 503 is a promise kept, yet somebody must act; all else is daily life. */
function levelOf(status: number): 'info' | 'warn' | 'error' {
  if (status < 500) return 'info'
  return status === 503 ? 'warn' : 'error'
}

/** One line a request: who, which route, what came of it and in what time. Never what was sent. */
export function requestLog(log: Log) {
  return ({ error, method, ...rest }: Answered, remark = ''): void => {
    const level = levelOf(rest.status)
    if (!log.isLevelEnabled(level)) return
    const told = methodLabel(method)
    const text = `${told} ${rest.route ?? '(no route)'} ${remark}`.trimEnd()
    const line = { ...rest, method: told, durationMs: Math.round(rest.durationMs * 1000) / 1000 }
    log[level](error === undefined ? line : { ...line, reason: reasonOf(error) }, text)
  }
}
