import { isatty } from 'node:tty'
import pino from 'pino'
import type { Config } from '../config.ts'
import { wantsColour } from '../core/text/colour.ts'
import { withEscapes } from '../core/text/unseen.ts'
import { LogSink } from './log-sink.ts'
import { asText } from './log-text.ts'
import { Mutex } from './mutex.ts'

export type Log = pino.Logger

/** Takes whole JSON lines, with their line feed. */
export interface JsonLines {
  write(line: string): void
}

/** The log of one thread; `lines` is null where people read it as text. */
export interface ThreadLog {
  thread: string
  log: Log
  lines: JsonLines | null
}

/**
 * The log of one thread, on standard output: JSON lines, or text where a person looks on. Nothing
 * that a caller sent goes into it: a request is told by its route's pattern, an error by `reasonOf`.
 *
 * @param turns the memory by which all threads that write to it take turns
 */
export function openLog(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  thread: string,
  turns: SharedArrayBuffer,
): ThreadLog {
  const isTerminal = isatty(1)
  const isText = config.logFormat === 'text' || (config.logFormat === 'auto' && isTerminal)
  const isColoured = wantsColour({ isTTY: isTerminal }, process.env)
  const sink = LogSink.open(new Mutex(turns))
  const own = {
    // JSON's writer escapes the controls of ASCII alone.
    write: (line: string) => sink.write(isText ? asText(line, isColoured) : withEscapes(line)),
    flush: () => sink.flush(),
  }
  const log = pino(
    {
      level: config.logLevel,
      base: { thread },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
    },
    own,
  )
  return { thread, log, lines: isText ? null : sink }
}
