import { getRandomValues } from 'node:crypto'

/** Two people who share a cell hear of each other's changes, and only ask once more than they have to. */
const cells = 2 ** 18

/**
 * Whether a person's progress has changed, in memory that all threads share: the storage thread counts
 * a change once it is committed, and whoever asks reads a word. Of a change that is told, the tables
 * tell more. Word 0 is where the counting begins, another with each start.
 */
export class ProgressBoard {
  private readonly words: Uint32Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Uint32Array(memory)
  }

  /** Untouched pages cost no memory. */
  static memory(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer((cells + 1) * 4)
    new Uint32Array(memory, 0, 1).set(getRandomValues(new Uint32Array(1)))
    return memory
  }

  /** @param person as `personOf` names them */
  changed(orgRow: number, person: string): void {
    Atomics.add(this.words, cellOf(orgRow, person), 1)
  }

  /** A text that is another after each change. */
  version(orgRow: number, person: string): string {
    const count = Atomics.load(this.words, cellOf(orgRow, person))
    return (((this.words[0] as number) + count) >>> 0).toString(36)
  }
}

const cellOf = (orgRow: number, person: string): number =>
  1 + (Bun.hash.xxHash32(`${orgRow} ${person}`) % cells)
