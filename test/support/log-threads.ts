import { LogSink } from '../../src/runtime/log.ts'
import { Mutex } from '../../src/runtime/mutex.ts'

/** A program whose threads write to standard output at the same time, each its own digit. */

export const logThreads = 3
export const linesOfThread = 3_000

declare const self: Worker

if (Bun.isMainThread && import.meta.main) {
  const turns = Mutex.memory()
  for (let thread = 0; thread < logThreads; thread++) {
    new Worker(import.meta.url).postMessage({ thread, turns })
  }
}

if (!Bun.isMainThread) {
  self.onmessage = ({ data }: { data: { thread: number; turns: SharedArrayBuffer } }) => {
    const sink = new LogSink(new Mutex(data.turns))
    const line = `${Array(100).fill(data.thread).join(',')}\n`
    for (let i = 0; i < linesOfThread; i++) sink.write(line)
    sink.flush()
    process.exit()
  }
}
