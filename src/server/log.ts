import pino from 'pino'
import type { Config } from '../config.ts'

export type Log = pino.Logger

/** How long lines may wait to be written together, milliseconds. */
const flushEveryMs = 200

/**
 * The log of one thread, on standard output: JSON lines, or text where a person looks on. Lines
 * are gathered, because a write for each request would cost more than the request.
 */
export function createLog(config: Pick<Config, 'logLevel' | 'logFormat'>, thread: string): Log {
  const isText =
    config.logFormat === 'text' || (config.logFormat === 'auto' && process.stdout.isTTY)
  const destination = pino.destination({ fd: 1, sync: true, minLength: 4_096 })
  setInterval(() => destination.flushSync(), flushEveryMs).unref()
  process.on('exit', () => destination.flushSync())
  const stream = isText ? { write: (line: string) => destination.write(asText(line)) } : destination
  return pino(
    {
      level: config.logLevel,
      base: { thread },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
    },
    stream as pino.DestinationStream,
  )
}

/** `09:30:00.123 info  http-1 GET /flows 200 0.4ms` */
function asText(line: string): string {
  const { time, level, thread, msg, ...rest } = JSON.parse(line)
  const clock = String(time).slice(11, 23)
  const extra = Object.entries(rest).map(([name, value]) =>
    typeof value === 'object' ? `${name}=${JSON.stringify(value)}` : `${name}=${value}`,
  )
  return `${[clock, String(level).padEnd(5), thread, msg, ...extra].filter(Boolean).join(' ')}\n`
}
