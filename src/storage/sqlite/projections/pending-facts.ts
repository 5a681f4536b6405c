import type { LagBoard, ProgressBoard } from '../../shared/boards.ts'
import type { Caused } from '../people/caused-events.ts'
import { JoinedFacts } from './joined-facts.ts'

/** The boards that show how much is behind, and whose progress has changed. */
export interface FollowerBoards {
  /** Epoch milliseconds. */
  now: () => number
  lag: LagBoard
  progress: ProgressBoard
}

/** What has been waiting since a moment, epoch milliseconds. */
interface Window {
  number: number
  since: number
  facts: JoinedFacts
  caused: Caused[]
}

/**
 * What is committed and waits to be projected: the window that is being filled, and the one that was taken
 * to be projected. It tells readers how much waits.
 */
export class PendingFacts {
  private gathering: Window
  private taken: Window | null = null
  private lastDone = 0

  constructor(private readonly boards: Pick<FollowerBoards, 'lag' | 'now'>) {
    this.gathering = this.newWindow(1)
  }

  /** How many events are in the window that is being filled. */
  get count(): number {
    return this.gathering.facts.count + this.gathering.caused.length
  }

  /** The number of the window that is being filled. */
  get number(): number {
    return this.gathering.number
  }

  /** The facts in the window that is being filled. */
  get facts(): JoinedFacts {
    return this.gathering.facts
  }

  /** Whether a window and all before it are projected. */
  isDone(number: number): boolean {
    return this.lastDone >= number
  }

  /** Takes what waits, and begins another window. */
  take(): Pick<Window, 'facts' | 'caused'> {
    this.taken = this.gathering
    this.gathering = this.newWindow(this.taken.number + 1)
    return this.taken
  }

  /** To be called once what was taken is projected. */
  done(): void {
    this.lastDone = this.taken!.number
    this.taken = null
    this.tell()
  }

  /** To be called before something of a transaction is added: if nothing waits yet, the waiting starts now. */
  begin(): void {
    if (this.count === 0) this.gathering.since = this.boards.now()
  }

  addCaused(caused: Caused): void {
    this.gathering.caused.push(caused)
  }

  /** Tells how much waits, and since when. */
  tell(): void {
    const { gathering, taken } = this
    const events = this.count + (taken ? taken.facts.count + taken.caused.length : 0)
    this.boards.lag.tell(events, (taken ?? gathering).since)
  }

  private newWindow(number: number): Window {
    return { number, since: this.boards.now(), facts: new JoinedFacts(), caused: [] }
  }
}
