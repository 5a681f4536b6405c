import { Wire } from './wire.ts'

/** CPU time that this process takes for some work, milliseconds; the least of several tries. */
export function ownCpuMs(work: () => unknown, tries = 3): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < tries; i++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

/** A request as it is sent; a function of `i`, the number of the time, if it must differ each time. */
export type Sent = string | ((i: number) => string)

/** Sends a request again and again, each time after the previous answer. */
export class Repeater implements Disposable {
  private wire: Wire | null = null
  private sent = 0

  constructor(private readonly port: number) {}

  /** @returns the status of the last answer, or how the connection ended without one */
  async send(request: Sent, times: number): Promise<string> {
    let outcome = ''
    for (let i = 0; i < times; i++) {
      if (this.wire === null || this.wire.isClosed) {
        this.wire?.[Symbol.dispose]()
        this.wire = await Wire.open(this.port)
      }
      const { wire } = this
      const answers = wire.statuses.length
      wire.write(typeof request === 'string' ? request : request(this.sent++))
      await wire.until(() => wire.statuses.length > answers)
      outcome = `${wire.statuses[answers] ?? 'closed'}`
    }
    return outcome
  }

  [Symbol.dispose](): void {
    this.wire?.[Symbol.dispose]()
  }
}
