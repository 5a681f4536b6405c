import type { Answered } from '../app.ts'
import { isoTime } from '../core/clock.ts'
import { reasonOf } from '../core/reason.ts'
import { methodLabel } from './http-counters.ts'
import type { ThreadLog } from './log.ts'

/** A 500 is our fault; a 503 is a promise kept, yet somebody must act; all else is daily life. */
function levelOf(status: number): 'info' | 'warn' | 'error' {
  if (status < 500) return 'info'
  return status === 503 ? 'warn' : 'error'
}

/** Many requests share a millisecond, and naming it costs as much as the rest of a line. */
function lineClock(): () => string {
  let now = 0
  let text = ''
  return () => {
    const at = Date.now()
    if (at === now) return text
    now = at
    text = isoTime(at)
    return text
  }
}

const quoted = (text: string | null | undefined) => (text == null ? 'null' : `"${text}"`)

/** One line a request: who, which route, what came of it and in what time. Never what was sent. */
export function requestLog({ thread, log, lines }: ThreadLog) {
  const time = lineClock()
  const daily = log.isLevelEnabled('info')

  /**
   * The line of nearly every request, written out: the library takes eight times as long, which is
   * a third of what a small answer costs. No text in it needs escaping, for all of them are ours.
   */
  const writeLine = (to: NonNullable<typeof lines>, answered: Answered, durationMs: number) => {
    const { requestId, organisation, status, code, cause } = answered
    const method = methodLabel(answered.method)
    const route = answered.route ?? '(no route)'
    to.write(
      `{"level":"info","time":"${time()}","thread":"${thread}","requestId":"${requestId}",` +
        `"route":${quoted(answered.route)},"organisation":${quoted(organisation)},` +
        `"status":${status},${code ? `"code":"${code}",` : ''}${cause ? `"cause":"${cause}",` : ''}` +
        `"method":"${method}","durationMs":${durationMs},"msg":"${method} ${route}"}\n`,
    )
  }

  return (answered: Answered, remark = ''): void => {
    const level = levelOf(answered.status)
    const isDaily = level === 'info' && remark === '' && answered.error === undefined
    if (isDaily && !daily) return
    const durationMs = Math.round(answered.durationMs * 1000) / 1000
    if (isDaily && lines) {
      writeLine(lines, answered, durationMs)
      return
    }
    if (!log.isLevelEnabled(level)) return
    const { error, method, ...rest } = answered
    const told = methodLabel(method)
    const text = `${told} ${rest.route ?? '(no route)'} ${remark}`.trimEnd()
    const line = { ...rest, method: told, durationMs }
    log[level](error === undefined ? line : { ...line, reason: reasonOf(error) }, text)
  }
}
