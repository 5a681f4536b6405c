import type { BufferGauge } from './buffer-gauge.ts'
import type { Command, CommandResult } from './commands.ts'
import { decodeCommand, encodeFailure, encodeResult, weightOf } from './messages.ts'
import type { Operation } from './operations.ts'

/** Takes answers, a line each. */
export type Answer = (lines: string) => void

/**
 * Answers that wait until all of their group have them: one message then tells a thread what became
 * of everything that it had sent.
 */
export class Answers {
  private readonly waiting = new Map<Answer, string>()

  add(to: Answer, line: string): void {
    const before = this.waiting.get(to)
    this.waiting.set(to, before === undefined ? line : `${before}\n${line}`)
  }

  send(): void {
    for (const [to, lines] of this.waiting) to(lines)
    this.waiting.clear()
  }
}

/** What a client asks for, from its arrival until what became of it is told. */
export class Delivery<Asked extends Command | Operation = Command | Operation> {
  readonly command: Asked
  readonly isAwaited: boolean
  private readonly number: number
  private readonly weight

  constructor(
    text: string,
    private readonly to: Answer,
    private readonly answers: Answers,
    private readonly gauge: BufferGauge,
  ) {
    const { number, value } = decodeCommand(text)
    this.number = number
    this.isAwaited = number > 0
    this.command = value as Asked
    this.weight = weightOf(text, value)
  }

  resolve(result: CommandResult): void {
    this.leave()
    if (this.isAwaited) this.answers.add(this.to, encodeResult(this.number, result))
  }

  reject(error: unknown): void {
    this.leave()
    if (this.isAwaited) this.answers.add(this.to, encodeFailure(this.number, error))
  }

  private leave(): void {
    this.gauge.leave(this.weight.events, this.weight.bytes)
  }
}
