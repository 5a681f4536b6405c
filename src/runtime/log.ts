import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import pino from 'pino'
import type { AnswerObserver, RequestSummary } from '../app.ts'
import type { Config } from '../config/settings.ts'
import { reasonOf } from '../core/reason.ts'
import { type Colour, painted, wantsColour } from '../core/text/colour.ts'
import { withEscapes } from '../core/text/unseen.ts'
import { isoTime } from '../core/time/clock.ts'
import { methodLabel } from './counters.ts'

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

/** A text of one word stands bare, so that a line stays readable. */
const shown = (value: unknown) =>
  withEscapes(typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value))

/**
 * A JSON line of the log as text:
 *
 *     09:30:00.123 info  200    0.412 ms  GET /flows  organisation=org_… requestId=…
 */
export function asText(line: string, isColoured: boolean): string {
  const { time, level, msg, status, durationMs, method, route, ...rest } = JSON.parse(line)
  const { reason, ...fields } = rest
  const paint = (colour: Colour | undefined, text: string) =>
    isColoured && colour ? painted(text, colour) : text
  const isRequest = typeof durationMs === 'number'
  // A status without a duration is the process's status.
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

export type Log = pino.Logger

/** Takes whole JSON lines, with their line feed. */
export interface JsonLines {
  write(line: string): void
}

/** The log of the server; `lines` is null if the log is text for people. */
export interface ServerLog {
  log: Log
  lines: JsonLines | null
}

/**
 * The log of the server, on standard output: JSON lines, or text for people. Nothing that a caller sent goes
 * into it: a request appears as its route's pattern, an error as what `reasonOf` gives.
 */
export function openLog(config: Pick<Config, 'logLevel' | 'logFormat'>): ServerLog {
  const isTerminal = isatty(1)
  const isText = config.logFormat === 'text' || (config.logFormat === 'auto' && isTerminal)
  const isColoured = wantsColour({ isTTY: isTerminal }, process.env)
  const sink = LogSink.open()
  const own = {
    // The JSON writer escapes only ASCII control characters.
    write: (line: string) => sink.write(isText ? asText(line, isColoured) : withEscapes(line)),
    flush: () => sink.flush(),
  }
  const log = pino(
    {
      level: config.logLevel,
      base: {},
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
    },
    own,
  )
  return { log, lines: isText ? null : sink }
}

/** How much is written at once: a write, which also wakes the reader, costs as much as forty lines. */
const pieceBytes = 16_384

/** The most bytes that a UTF-16 unit takes in UTF-8. */
const maxCharacterLength = 3

/** How long lines may wait to be written together, milliseconds. */
const maxWaitMs = 200

/** How often a write is retried, a millisecond apart, if the reader is slower than a non-blocking pipe. */
const maxTries = 200

type Write = (text: Buffer) => number

/**
 * Writes the lines of the log. They are gathered, because a write per request would cost more than the request,
 * and written in pieces of whole lines. A log that cannot be written is no reason to stop serving: lines that
 * nobody takes are dropped, and once the reader is gone (`cairn serve | head`) all are. pino's own destination
 * retries forever on a full disk.
 */
export class LogSink {
  private text = ''
  /** Reused for each piece, because a new buffer costs as much as everything else about its lines. */
  private readonly piece = Buffer.allocUnsafeSlow(pieceBytes * maxCharacterLength)
  private isClosed = false
  /** Whether the last piece was dropped. A reader that has stopped is not waited for again. */
  private isStalled = false
  /** Whether it was dropped after part of it had been written. */
  private isMidLine = false
  /** Null while there is nothing to write, so that an idle server is not woken. */
  private waiting: ReturnType<typeof setTimeout> | null = null

  constructor(private readonly out: Write = bytes => writeSync(1, bytes)) {}

  /** Writes what is left when the process ends. */
  static open(): LogSink {
    const sink = new LogSink()
    process.on('exit', () => sink.flush())
    return sink
  }

  /** @param line with its line feed */
  write(line: string): void {
    if (this.isClosed) return
    // Counts characters, which are bytes in nearly every line.
    if (this.text.length + line.length > pieceBytes) this.flush()
    this.text += line
    this.waiting ??= setTimeout(() => this.flush(), maxWaitMs).unref()
  }

  flush(): void {
    if (this.waiting) clearTimeout(this.waiting)
    this.waiting = null
    if (this.text === '') return
    const bytes = this.encoded(this.isMidLine ? `\n${this.text}` : this.text)
    this.text = ''
    this.send(bytes)
  }

  private encoded(text: string): Buffer {
    // A single line may be longer than a piece.
    if (text.length * maxCharacterLength > this.piece.length) return Buffer.from(text)
    return this.piece.subarray(0, this.piece.write(text))
  }

  private send(bytes: Buffer): void {
    for (let at = 0, tries = this.isStalled ? 1 : maxTries; at < bytes.length; ) {
      try {
        at += this.out(at === 0 ? bytes : bytes.subarray(at))
        this.isStalled = false
        this.isMidLine = at < bytes.length
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'EPIPE' || code === 'EBADF') this.isClosed = true
        // The rest of the piece is dropped.
        this.isStalled = code !== 'EAGAIN' || --tries === 0
        if (this.isStalled) return
        Bun.sleepSync(1)
      }
    }
  }
}

/** A 500 is Cairn's fault. A 503 is intended, yet somebody must act. Everything else is routine. */
function levelOf(status: number): 'info' | 'warn' | 'error' {
  if (status < 500) return 'info'
  return status === 503 ? 'warn' : 'error'
}

const quoted = (text: string | null) => (text === null ? 'null' : `"${text}"`)

/** One line per request: who, which route, the outcome and the time. Never what was sent. */
export class RequestLog implements AnswerObserver {
  constructor(private readonly own: ServerLog) {}

  responded(summary: RequestSummary): void {
    this.write(summary, '')
  }

  brokeOff(summary: RequestSummary): void {
    this.write(summary, ' broke off')
  }

  private write(answered: RequestSummary, remark: string): void {
    const { log, lines } = this.own
    const { requestId, route, organisation, status, code, cause, error } = answered
    const level = levelOf(status)
    if (!log.isLevelEnabled(level)) return
    const isDaily = level === 'info' && remark === '' && error === undefined
    const method = methodLabel(answered.method)
    const durationMs = Math.round(answered.durationMs * 1000) / 1000
    const msg = `${method} ${route ?? '(no route)'}${remark}`
    if (isDaily && lines) {
      // Not written by the library, which takes a tenth of what a small answer costs, nor by the JSON writer,
      // which takes a third of that. No text in it needs escapes, because all of them are Cairn's own.
      const place = `"route":${quoted(route)},"organisation":${quoted(organisation)}`
      const why = `${code ? `,"code":"${code}"` : ''}${cause ? `,"cause":"${cause}"` : ''}`
      lines.write(
        `{"level":"info","time":"${isoTime(Date.now())}","requestId":"${requestId}",${place},"status":${status}${why},"method":"${method}","durationMs":${durationMs},"msg":"${msg}"}\n`,
      )
      return
    }
    const line = { requestId, route, organisation, status, code, cause, method, durationMs }
    log[level](error === undefined ? line : { ...line, reason: reasonOf(error) }, msg)
  }
}
