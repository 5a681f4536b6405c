import { framed } from './frames.ts'

/** What commands hold. */
interface Weight {
  events: number
  bytes: number
}

/**
 * So many commands, events or bytes leave without waiting for the end of the turn: enough to share the
 * cost of a message and of a commit, few enough for storage to begin while the rest of a burst is
 * still being read.
 */
const mostCommands = 32
const mostEvents = 256
const mostBytes = 1024 ** 2

/**
 * Commands on their way to the storage thread, gathered into few messages, because a message costs
 * both threads a turn.
 *
 * What comes in one turn of the event loop goes together, in messages of bounded size. Nothing waits
 * for answers or for a timer: while storage commits, messages queue up there and share the next
 * commit anyway. Held back here, all callers would be answered at once and come again at once, and
 * the two threads would take turns instead of working side by side.
 */
export class Outbox {
  private gathered = ''
  private commands = 0
  private turn: NodeJS.Immediate | null = null
  /** Of what is gathered and has not left. */
  readonly weight: Weight = { events: 0, bytes: 0 }

  constructor(private readonly send: (message: string, weight: Weight) => void) {}

  put(command: string, weight: Weight): void {
    this.gathered += framed(command)
    this.commands++
    this.weight.events += weight.events
    this.weight.bytes += weight.bytes
    const { events, bytes } = this.weight
    if (this.commands >= mostCommands || events >= mostEvents || bytes >= mostBytes) this.flush()
    else this.turn ??= setImmediate(() => this.flush())
  }

  /** Sends a command that nobody waits for, at once: held here, it could be lost with the thread. */
  putUnawaited(command: string, weight: Weight): void {
    this.send(framed(command), weight)
  }

  private flush(): void {
    if (this.turn !== null) clearImmediate(this.turn)
    this.turn = null
    const message = this.gathered
    this.gathered = ''
    this.commands = 0
    const weight = { ...this.weight }
    this.weight.events = 0
    this.weight.bytes = 0
    this.send(message, weight)
  }
}
