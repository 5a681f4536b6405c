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

const quoted = (text: string | null) => (text === null ? 'null' : `"${text}"`)

/** The digits behind the point: a number with a fraction takes longer to write than all the rest. */
const thousandths = Array.from({ length: 1000 }, (_, i) => `${i}`.padStart(3, '0'))

/** Milliseconds with the microseconds behind the point. */
function millisecondsOf(durationMs: number): string {
  const micros = Math.round(durationMs * 1000)
  return `${Math.floor(micros / 1000)}.${thousandths[micros % 1000]}`
}

/** One line a request: who, which route, what came of it and in what time. Never what was sent. */
export function requestLog({ thread, log, lines }: ThreadLog) {
  const daily = log.isLevelEnabled('info')

  /** What is the same in every line of a route and method, before the status and behind it. */
  const pieces = new Map<string | null, Map<string, { route: string; end: string }>>()

  function piecesOf({ route, method }: Answered) {
    const known = pieces.get(route)?.get(method)
    if (known) return known
    const told = methodLabel(method)
    const made = {
      route: `","route":${quoted(route)},"organisation":`,
      end: `,"msg":"${told} ${route ?? '(no route)'}"}\n`,
    }
    // A method of a caller's own making is not kept.
    if (told === method) {
      pieces.set(route, (pieces.get(route) ?? new Map()).set(method, made))
    }
    return made
  }

  /**
   * The line of nearly every request, written out: the library takes eight times as long, which is
   * a third of what a small answer costs. No text in it needs escaping, for all of them are ours.
   */
  const writeLine = (to: NonNullable<typeof lines>, answered: Answered) => {
    const { requestId, organisation, status, code, cause } = answered
    const method = methodLabel(answered.method)
    const { route, end } = piecesOf(answered)
    const why = `${code ? `"code":"${code}",` : ''}${cause ? `"cause":"${cause}",` : ''}`
    to.write(
      `{"level":"info","time":"${isoTime(Date.now())}","thread":"${thread}","requestId":"${requestId}` +
        `${route}${quoted(organisation)},"status":${status},${why}"method":"${method}",` +
        `"durationMs":${millisecondsOf(answered.durationMs)}${end}`,
    )
  }

  return (answered: Answered, remark = ''): void => {
    const level = levelOf(answered.status)
    const isDaily = level === 'info' && remark === '' && answered.error === undefined
    if (isDaily && !daily) return
    if (isDaily && lines) {
      writeLine(lines, answered)
      return
    }
    if (!log.isLevelEnabled(level)) return
    const { error, method, ...rest } = answered
    const told = methodLabel(method)
    const text = `${told} ${rest.route ?? '(no route)'} ${remark}`.trimEnd()
    const durationMs = Math.round(answered.durationMs * 1000) / 1000
    const line = { ...rest, method: told, durationMs }
    log[level](error === undefined ? line : { ...line, reason: reasonOf(error) }, text)
  }
}
