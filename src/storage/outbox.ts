import { framed } from './frames.ts'

/**
 * Events that are worth a commit of their own: its fixed cost is about that of a hundred. With so
 * many gathered, nothing is gained by waiting.
 */
const worthACommit = 256

/** With fewer commands in the last message than this, the next is not waited for. */
const frequent = 4

/** How long a message waits at most for as many commands as the last one had, milliseconds. */
const defaultLongestWaitMs = 1

/**
 * Commands on their way to the storage thread, gathered into few messages: a message costs both
 * threads a turn, and most are a commit of their own.
 *
 * What comes in one turn of the event loop goes together. While storage owes this thread an answer,
 * what comes waits for it, as small packets do on a network (RFC 896); and while commands come
 * often, a message waits for a moment until it has as many as the one before. So a lone command
 * leaves at once, and under load a commit takes what has arrived since the one before it.
 */
export class Outbox {
  private gathered = ''
  private commands = 0
  private events = 0
  /** Commands of the last message. */
  private lastCommands = 0
  /** Commands that were sent and are not answered. */
  private unanswered = 0
  private turn: NodeJS.Immediate | null = null
  private wait: Timer | null = null

  constructor(
    private readonly send: (message: string) => void,
    private readonly longestWaitMs = defaultLongestWaitMs,
  ) {}

  put(command: string, events: number): void {
    this.gathered += framed(command)
    this.commands++
    this.events += events
    this.schedule()
  }

  /** Sends a command that nobody waits for, at once: held here, it could be lost with the thread. */
  putUnawaited(command: string): void {
    this.send(framed(command))
  }

  /** So many commands have their answers. */
  answered(commands: number): void {
    this.unanswered -= commands
    if (this.commands > 0) this.schedule()
  }

  private schedule(): void {
    if (this.turn !== null) return
    const isFull = this.events >= worthACommit
    if (this.unanswered > 0 && !isFull) return
    if (isFull || this.lastCommands < frequent || this.commands >= this.lastCommands) {
      this.turn = setImmediate(() => this.flush())
    } else {
      this.wait ??= setTimeout(() => this.flush(), this.longestWaitMs)
    }
  }

  private flush(): void {
    if (this.turn !== null) clearImmediate(this.turn)
    if (this.wait !== null) clearTimeout(this.wait)
    this.turn = null
    this.wait = null
    const message = this.gathered
    this.unanswered += this.commands
    this.lastCommands = this.commands
    this.gathered = ''
    this.commands = 0
    this.events = 0
    this.send(message)
  }
}
