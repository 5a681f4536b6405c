import { LogSink } from '../../src/server/log-sink.ts'
import { Turn } from '../../src/server/turn.ts'

/** A program whose threads write to standard output at the same time, each its own digit. */

export const logThreads = 3
export const linesOfThread = 3_000

declare const self: Worker

if (Bun.isMainThread && import.meta.main) {
  const turns = Turn.memory()
  for (let thread = 0; thread < logThreads; thread++) {
    new Worker(import.meta.url).postMessage({ thread, turns })
  }
}

if (!Bun.isMainThread) {
  self.onmessage = ({ data }: { data: { thread: number; turns: SharedArrayBuffer } }) => {
    const sink = new LogSink(new Turn(data.turns))
    const line = `${Array(100).fill(data.thread).join(',')}\n`
    for (let i = 0; i < linesOfThread; i++) sink.write(line)
    sink.flush()
    process.exit()
  }
}
