import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import type { Change, Cut, Disk } from './disk.ts'

/** What a power cut may leave of the changes that no sync has covered. */

const sectorBytes = 512
const pageBytes = 4_096

const nothing: Cut = { keepsNames: () => false, leftOf: () => [] }

const everything: Cut = { keepsNames: () => true, leftOf: change => [change] }

/** Pieces of a write, each of which reaches the disk or not, independently; a change of size is one piece. */
function torn(change: Change, random: SeededRandom, chance: number): Change[] {
  if ('size' in change) return random.chance(chance) ? [change] : []
  const { seq, at, bytes } = change
  const unit = random.pick([sectorBytes, pageBytes])
  const left: Change[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + unit - ((at + start) % unit))
    const piece = bytes.subarray(start, end)
    if (random.chance(chance)) left.push({ seq, at: at + start, bytes: piece })
    start = end
  }
  return left
}

/** Old bytes at a place on the disk from before the file used it. */
function remainsFor({ seq, at, bytes }: Extract<Change, { bytes: Buffer }>, random: SeededRandom) {
  const remains = Buffer.alloc(bytes.length, `${random.hex(16)}`, 'hex')
  return { seq, at, bytes: remains }
}

/** The kinds of cut. Each is drawn anew for every point. */
export const cuts = {
  /** The strictest disk: it keeps no byte and no name that was not synced. */
  'all dropped': (): Cut => nothing,
  /** The kindest disk: it keeps everything, as after a kill. */
  'all kept': (): Cut => everything,
  /** A disk that keeps the order: it has everything up to some change, which is torn. */
  'in order': (random, { newest, oldestUnsynced }): Cut => {
    const last = Math.floor(random.between(oldestUnsynced, newest + 1))
    return {
      keepsNames: seq => seq <= last,
      leftOf: change => {
        if (change.seq < last) return [change]
        return change.seq === last ? torn(change, random, 0.5) : []
      },
    }
  },
  /** Whole writes and names, each independently. */
  'out of order': (random): Cut => {
    const chance = random.pick([0.1, 0.5, 0.9])
    return {
      keepsNames: () => random.chance(chance),
      leftOf: change => (random.chance(chance) ? [change] : []),
    }
  },
  /** Sectors or pages of writes, each independently. The rest is as before, or has older bytes of the disk. */
  torn: (random): Cut => {
    const chance = random.pick([0.1, 0.5, 0.9])
    const hasRemains = random.chance(0.5)
    return {
      keepsNames: () => random.chance(chance),
      leftOf: change => {
        const pieces = torn(change, random, chance)
        const isOver = 'bytes' in change && hasRemains && random.chance(chance)
        return isOver ? [remainsFor(change, random), ...pieces] : pieces
      },
    }
  },
} satisfies Record<string, (random: SeededRandom, disk: Disk) => Cut>

export type CutName = keyof typeof cuts

export const cutNames = Object.keys(cuts) as CutName[]
