import type { Kind } from '../load/journal.ts'

/** What a recorded Cairn has promised. */

/** Something that counts as promised from the moment it was sent out. */
export type Promised =
  | { what: Kind; name: string }
  | { what: 'organisation'; id: string }
  | { what: 'version'; number: number }
  | { what: 'token'; token: string }
  | { what: 'backup'; sha256: string }

/** From here on another database may have replaced the one before, or has replaced it. */
export type Moment = 'backup begins' | 'restore begins' | 'restored' | 'undo begins' | 'undone'

/** A text that is in the recording at the moment when something was sent out. */
export interface Answer {
  text: string
  promised: readonly Promised[]
  moment?: Moment
}

export const nameOf = (promised: Promised) => `${promised.what} ${Object.values(promised)[1]}`

const isInDatabase = ({ what }: Promised) => what !== 'token' && what !== 'backup'

/** What has to be there after everything that was sent out so far. */
export class Promises {
  /** Promises about what is kept beside the database. */
  readonly files: Promised[] = []
  private readonly all: Promised[] = []
  private inBackup: readonly Promised[] = []

  /** What the database has to hold; while it is being replaced, any one of these. */
  databases: readonly (readonly Promised[])[] = [this.all]

  add({ promised, moment }: Answer): void {
    for (const one of promised) (isInDatabase(one) ? this.all : this.files).push(one)
    if (moment === 'backup begins') this.inBackup = [...this.all]
    else if (moment === 'restore begins') this.databases = [this.all, this.inBackup]
    else if (moment === 'restored') this.databases = [this.inBackup]
    else if (moment === 'undo begins') this.databases = [this.inBackup, this.all]
    else if (moment === 'undone') this.databases = [this.all]
  }

  has(what: Promised['what']): boolean {
    return this.all.some(promised => promised.what === what)
  }
}
