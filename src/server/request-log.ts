import type { Answered } from '../app.ts'
import { reasonOf } from '../core/text/reason.ts'
import { isoTime } from '../core/time/clock.ts'
import { methodLabel } from './http-counters.ts'
import type { ThreadLog } from './log.ts'

/** A 500 is our fault; a 503 is a promise kept, yet somebody must act; all else is daily life. */
function levelOf(status: number): 'info' | 'warn' | 'error' {
  if (status < 500) return 'info'
  return status === 503 ? 'warn' : 'error'
}

const quoted = (text: string | null) => (text === null ? 'null' : `"${text}"`)

/**
 * A text in one piece. A template leaves a tree of its parts behind, and what many lines share would
 * be walked again for each of them, at four times what the rest of a line takes.
 */
const whole = (text: string) => [text, ''].join('')

/** The digits behind the point: a number with a fraction takes longer to write than all the rest. */
const thousandths = Array.from({ length: 1000 }, (_, i) => whole(`${i}`.padStart(3, '0')))

/** What lines have in common. */
interface Pieces {
  /** Between the request's id and the organisation. */
  route: string
  /** Between why it was refused and the duration. */
  method: string
  /** Behind the duration. */
  end: string
}

function piecesFor(route: string | null, method: string): Pieces {
  return {
    route: whole(`","route":${quoted(route)},"organisation":`),
    method: whole(`,"method":"${method}","durationMs":`),
    end: whole(`,"msg":"${method} ${route ?? '(no route)'}"}\n`),
  }
}

/** One line a request: who, which route, what came of it and in what time. Never what was sent. */
export function requestLog({ thread, log, lines }: ThreadLog) {
  const daily = log.isLevelEnabled('info')
  const pieces = new Map<string, Map<string | null, Pieces>>()

  function piecesOf({ route, method }: Answered): Pieces {
    const told = methodLabel(method)
    const ofMethod = pieces.get(told) ?? new Map<string | null, Pieces>()
    const known = ofMethod.get(route)
    if (known) return known
    const made = piecesFor(route, told)
    pieces.set(told, ofMethod.set(route, made))
    return made
  }

  /** Up to the request's id; many lines share a millisecond. */
  let head = ''
  let headAt = 0

  function headOf(now: number): string {
    if (now !== headAt) {
      head = whole(`{"level":"info","time":"${isoTime(now)}","thread":"${thread}","requestId":"`)
      headAt = now
    }
    return head
  }

  /**
   * The line of nearly every request, written out: the library takes eight times as long, which is
   * a third of what a small answer costs. No text in it needs escaping, for all of them are ours.
   */
  function writeLine(to: NonNullable<typeof lines>, answered: Answered): void {
    const { requestId, organisation, status, code, cause } = answered
    const { route, method, end } = piecesOf(answered)
    const who = organisation === null ? 'null,"status":' : `"${organisation}","status":`
    const why = code ? `,"code":"${code}"${cause ? `,"cause":"${cause}"` : ''}` : ''
    const micros = Math.round(answered.durationMs * 1000)
    const duration = `${Math.floor(micros / 1000)}.${thousandths[micros % 1000]}`
    to.write(
      `${headOf(Date.now())}${requestId}${route}${who}${status}${why}${method}${duration}${end}`,
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
