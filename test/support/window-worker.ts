import { WindowTable } from '../../src/limits/shared-memory.ts'

/** What a thread of the limiter's test is to do, at the same time as the others. */
export interface WindowWork {
  memory: SharedArrayBuffer
  /** Word 0: threads that wait; word 1: set to 1 to let them begin. */
  gate: SharedArrayBuffer
  limits: number[]
  /** Monotonic moments at which every slot is asked, in this order. */
  moments: number[]
  triesEach: number
}

declare const self: Worker

self.onmessage = ({ data }: { data: WindowWork }) => {
  const table = new WindowTable(data.memory)
  const gate = new Int32Array(data.gate)
  Atomics.add(gate, 0, 1)
  Atomics.wait(gate, 1, 0)
  const admitted = data.limits.map((limit, slot) =>
    data.moments.map(moment => {
      let count = 0
      for (let i = 0; i < data.triesEach; i++) {
        if (table.take(slot, 0, limit, moment).admitted) count++
      }
      return count
    }),
  )
  self.postMessage(admitted)
}
