/** Words of the board, a double each. */
const [answersUntil, leasedUntil, nodes, tookUp, made] = [0, 1, 2, 3, 4] as const
const [settled, followedAt, clockAhead, connections, databaseBytes] = [5, 6, 7, 8, 9] as const
const words = 10
/** After them come the bytes of its id. */
const idBytes = 16

/**
 * The state of this node among the others, in memory that its threads share. The storage thread writes it, and the
 * main thread reads it. A server alone leaves it as it is made: it may answer for
 * ever, and counts as one node.
 *
 * Moments are by the monotonic clock that the threads share.
 */
export class NodeBoard {
  private readonly words: Float64Array
  private readonly idBytes: Uint8Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Float64Array(memory, 0, words)
    this.idBytes = new Uint8Array(memory, this.words.byteLength, idBytes)
  }

  static memory(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(words * Float64Array.BYTES_PER_ELEMENT + idBytes)
    const board = new NodeBoard(memory)
    board.answersUntil = Number.POSITIVE_INFINITY
    board.nodes = 1
    board.clockAhead = Number.NaN
    board.databaseBytes = Number.NaN
    return memory
  }

  /** Its id among the nodes: 16 bytes in hexadecimal, all zero if it is not one. */
  get id(): string {
    return Buffer.from(this.idBytes).toString('hex')
  }
  set id(id: string) {
    this.idBytes.set(Buffer.from(id, 'hex'))
  }

  /** Until when it may answer from what it knows of the catalogue. */
  get answersUntil(): number {
    return this.words[answersUntil]!
  }
  set answersUntil(moment: number) {
    this.words[answersUntil] = moment
  }

  /** Until when its lease runs. */
  get leasedUntil(): number {
    return this.words[leasedUntil]!
  }
  set leasedUntil(moment: number) {
    this.words[leasedUntil] = moment
  }

  /** How many nodes are running, this one included. */
  get nodes(): number {
    return this.words[nodes]!
  }
  set nodes(count: number) {
    this.words[nodes] = count
  }

  /** The last change of the catalogue that all threads know about. */
  get tookUp(): number {
    return this.words[tookUp]!
  }
  set tookUp(change: number) {
    this.words[tookUp] = change
  }

  /** The last change that this node itself has made. */
  get made(): number {
    return this.words[made]!
  }
  set made(change: number) {
    this.words[made] = change
  }

  /** The last of these changes that all nodes know about. */
  get settled(): number {
    return this.words[settled]!
  }
  set settled(change: number) {
    this.words[settled] = change
  }

  /** When it last found that it knows all changes. */
  get followedAt(): number {
    return this.words[followedAt]!
  }
  set followedAt(moment: number) {
    this.words[followedAt] = moment
  }

  /** How many connections the database's server has, whoever's they are. */
  get connections(): number {
    return this.words[connections]!
  }
  set connections(count: number) {
    this.words[connections] = count
  }

  /** How large the database was when it was last measured; null before that. */
  get databaseBytes(): number | null {
    const bytes = this.words[databaseBytes]!
    return Number.isNaN(bytes) ? null : bytes
  }
  set databaseBytes(bytes: number) {
    this.words[databaseBytes] = bytes
  }

  /** How far this machine's clock is ahead of PostgreSQL's, milliseconds; null if nobody has looked. */
  get clockAhead(): number | null {
    const ahead = this.words[clockAhead]!
    return Number.isNaN(ahead) ? null : ahead
  }
  set clockAhead(byMs: number) {
    this.words[clockAhead] = byMs
  }
}
