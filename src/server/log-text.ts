/** The log as a person reads it at a terminal. */

const reset = '\x1b[0m'
const dim = '\x1b[2m'
const red = '\x1b[31m'
const green = '\x1b[32m'
const yellow = '\x1b[33m'
const cyan = '\x1b[36m'

const levelColours: Record<string, string> = { warn: yellow, error: red, fatal: red, debug: dim }

const statusColour = (status: number) => {
  if (status >= 500) return red
  if (status >= 400) return yellow
  return status >= 300 ? cyan : green
}

/** Texts bare where they are one word, so that a line stays readable and a reason's lines stay. */
const shown = (value: unknown) =>
  typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value)

/**
 * A JSON line of the log as text:
 *
 *     09:30:00.123 info  http-1   200    0.412 ms  GET /flows  organisation=org_… requestId=…
 */
export function asText(line: string, isColoured: boolean): string {
  const { time, level, thread, msg, status, durationMs, method, route, ...rest } = JSON.parse(line)
  const { reason, ...fields } = rest
  const paint = (colour: string | undefined, text: string) =>
    isColoured && colour ? `${colour}${text}${reset}` : text
  const isRequest = typeof durationMs === 'number'
  // A status without a duration is that of the process.
  const end = status !== undefined && !isRequest ? { status } : {}
  const answer = isRequest
    ? [paint(statusColour(status), `${status}`), `${durationMs.toFixed(3).padStart(8)} ms `]
    : []
  const extra = Object.entries({ ...fields, ...end })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => paint(dim, `${name}=${shown(value)}`))
  const parts = [
    paint(dim, String(time).slice(11, 23)),
    paint(levelColours[level], String(level).padEnd(5)),
    String(thread).padEnd(7),
    ...answer,
    isRequest ? String(msg).padEnd(28) : msg,
    ...extra,
  ]
  const below = typeof reason === 'string' ? reason.split('\n').map(text => `\n    ${text}`) : []
  return `${parts.join(' ').trimEnd()}${below.join('')}\n`
}
