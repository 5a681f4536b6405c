import { framed } from './messages.ts'

/**
 * Events that are worth a commit of their own: its fixed cost is about that of a hundred. With so
 * many gathered, nothing is gained by waiting for the commit that is under way.
 */
const worthACommit = 256

/**
 * Commands on their way to the storage thread, gathered into few messages: a message costs both
 * threads a turn, and every group that arrives by itself may be a commit.
 *
 * What comes in one turn of the event loop goes together. While storage owes this thread an answer,
 * what comes waits for it, as small packets do on a network (RFC 896): so a lone command leaves at
 * once, and under load a commit takes what has arrived during the one before it.
 */
export class Outbox {
  private gathered = ''
  private events = 0
  private unanswered = 0
  private isScheduled = false

  constructor(private readonly send: (message: string) => void) {}

  /** @param isAwaited false for what was acknowledged already: nobody would miss it, so it leaves now */
  put(command: string, events: number, isAwaited: boolean): void {
    this.gathered += framed(command)
    this.events += events
    if (!isAwaited) {
      this.flush()
      return
    }
    // Of what is gathered too: it is the same as long as none of it is answered.
    this.gatheredAwaited++
    if (this.events >= worthACommit) this.flush()
    else if (this.unanswered === 0) this.schedule()
  }

  /** So many commands have their answers. */
  answered(commands: number): void {
    this.unanswered -= commands
    if (this.unanswered === 0 && this.gathered !== '') this.schedule()
  }

  private gatheredAwaited = 0

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => {
      this.isScheduled = false
      this.flush()
    })
  }

  private flush(): void {
    if (this.gathered === '') return
    const message = this.gathered
    this.gathered = ''
    this.events = 0
    this.unanswered += this.gatheredAwaited
    this.gatheredAwaited = 0
    this.send(message)
  }
}
