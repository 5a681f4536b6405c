import { type Colour, painted } from '../core/text/colour.ts'
import { withEscapes } from '../core/text/unseen.ts'

/** The log as a person reads it at a terminal. */

const levelColours: Record<string, Colour> = {
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
  debug: 'dim',
}

const statusColour = (status: number): Colour => {
  if (status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 ? 'cyan' : 'green'
}

/** Texts bare where they are one word, so that a line stays readable and a reason's lines stay. */
const shown = (value: unknown) =>
  withEscapes(typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value))

/**
 * A JSON line of the log as text:
 *
 *     09:30:00.123 info  http-1   200    0.412 ms  GET /flows  organisation=org_… requestId=…
 */
export function asText(line: string, isColoured: boolean): string {
  const { time, level, thread, msg, status, durationMs, method, route, ...rest } = JSON.parse(line)
  const { reason, ...fields } = rest
  const paint = (colour: Colour | undefined, text: string) =>
    isColoured && colour ? painted(text, colour) : text
  const isRequest = typeof durationMs === 'number'
  // A status without a duration is that of the process.
  const end = status !== undefined && !isRequest ? { status } : {}
  const answer = isRequest
    ? [paint(statusColour(status), `${status}`), `${durationMs.toFixed(3).padStart(8)} ms `]
    : []
  const extra = Object.entries({ ...fields, ...end })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => paint('dim', `${name}=${shown(value)}`))
  const parts = [
    paint('dim', String(time).slice(11, 23)),
    paint(levelColours[level], String(level).padEnd(5)),
    String(thread).padEnd(7),
    ...answer,
    isRequest ? String(msg).padEnd(28) : withEscapes(String(msg)),
    ...extra,
  ]
  const below =
    typeof reason === 'string'
      ? withEscapes(reason)
          .split('\n')
          .map(text => `\n    ${text}`)
      : []
  return `${parts.join(' ').trimEnd()}${below.join('')}\n`
}
