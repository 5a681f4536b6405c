import { AppError, callerGone } from '../core/errors.ts'

/**
 * Cuts a thread's heavy work into slices, one in each turn of its event loop, so that what is
 * quick is answered in between: sixty batches of events that arrive at the same moment would keep
 * all else waiting for as long as all of them take.
 *
 * Work goes in the order in which it came. A slice is measured by what is known beforehand (the
 * length of a body), because the time is known only when it is spent.
 */
export class WeightedSlices {
  private spent = 0
  private isTurning = false
  private readonly waiting: { weight: number; begin: () => void }[] = []
  private waitingSum = 0

  /** @param most weight that a slice takes; a piece of work that is heavier has one to itself */
  constructor(private readonly most: number) {}

  /** The weight of all that waits for its slice. */
  get waitingWeight(): number {
    return this.waitingSum
  }

  /** Where the slice has room, nothing to wait for; else a promise of the turn in which it has. */
  enter(weight: number): Promise<void> | undefined {
    if (this.waiting.length === 0 && this.hasRoom(weight)) {
      this.spend(weight)
      return
    }
    this.waitingSum += weight
    return new Promise(begin => this.waiting.push({ weight, begin }))
  }

  private hasRoom(weight: number): boolean {
    return this.spent === 0 || this.spent + weight <= this.most
  }

  private spend(weight: number): void {
    this.spent += weight
    if (this.isTurning) return
    this.isTurning = true
    // Sockets are looked at before it is called.
    setImmediate(() => this.turn())
  }

  private turn(): void {
    this.isTurning = false
    this.spent = 0
    for (let next = this.waiting[0]; next && this.hasRoom(next.weight); next = this.waiting[0]) {
      this.waiting.shift()
      this.waitingSum -= next.weight
      this.spend(next.weight)
      next.begin()
    }
  }
}

const tooLarge = (limitBytes: number) =>
  new AppError('payload_too_large', `The body is larger than ${limitBytes} bytes`)

/** Reads a body that does not say how long it is: at most `limitBytes`, and lets the rest go. */
async function readChunks(
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    length += value.byteLength
    if (length > limitBytes) {
      await reader.cancel()
      throw tooLarge(limitBytes)
    }
    chunks.push(value)
  }
}

/** Reads at most `limitBytes`, however the body is framed. */
function readBytes(request: Request, limitBytes: number): Promise<Uint8Array> | Uint8Array {
  const declared = request.headers.get('content-length')
  if (declared === null) {
    return request.body ? readChunks(request.body, limitBytes) : new Uint8Array()
  }
  if (Number(declared) > limitBytes) throw tooLarge(limitBytes)
  return request.bytes()
}

const isAcceptedType = (contentType: string | null) => {
  if (contentType === 'application/json') return true
  // A header without a value names no type.
  if (contentType === null || contentType.trim() === '') return true
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  return type === 'application/json' || type === 'text/plain'
}

/**
 * Bytes of bodies that are parsed, judged and passed on before whoever else waits is answered: four
 * batches of 50 events, or most of a millisecond.
 */
const parsing = new WeightedSlices(65_536)

/**
 * Bytes of bodies that may wait for their turn, in each thread: six hundred batches of 50 events. Where
 * more arrives than a thread can parse, what waits would grow until memory ends, and be answered when
 * nobody listens any more.
 */
const mostWaiting = 8 * 1024 ** 2

/** @throws AppError `overloaded` */
function requireTurn(): void {
  if (parsing.waitingWeight < mostWaiting) return
  throw new AppError('overloaded', 'The server has more to read than it can take; try again', {
    retryAfterSeconds: 1,
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The body of a POST, as text and parsed.
 *
 * @param beforeParsing called once it is this body's turn, which may be long after it was read; what it
 *   throws, the caller gets
 * @throws AppError `payload_too_large`, `unsupported_media_type` or `malformed_json`, in this order;
 *   `overloaded`
 */
export async function readJson(
  request: Request,
  limitBytes: number,
  beforeParsing: () => void,
): Promise<{ text: string; value: unknown }> {
  requireTurn()
  let bytes: Uint8Array
  try {
    bytes = await readBytes(request, limitBytes)
  } catch (cause) {
    // A client that goes away midway is no failure of ours; nobody will read the answer.
    throw cause instanceof AppError ? cause : callerGone(cause)
  }
  // A request without a header has no type; `Request` objects made from a text would claim one.
  if (!isAcceptedType(request.headers.get('content-type'))) {
    throw new AppError('unsupported_media_type', 'Send the body as application/json or text/plain')
  }
  // Many may have been read meanwhile.
  requireTurn()
  const turn = parsing.enter(bytes.byteLength)
  if (turn) await turn
  beforeParsing()
  try {
    const text = utf8.decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch (cause) {
    throw new AppError('malformed_json', 'The body is not JSON', { cause })
  }
}
