import { shortReasonOf } from '../core/text/reason.ts'
import { armFailpoints, failpoint } from '../failpoints.ts'
import { prepareDatabase } from '../storage/database/prepare.ts'
import { type UpgradeProgress, upgradeDatabase } from '../storage/database/upgrade.ts'
import type { ErasureProgress } from '../storage/erasure/erasures.ts'

/**
 * The thread that does what a database needs before any other opens it, and that can take long: bringing
 * it up to date, and erasing people of whom something is left.
 */

declare const self: Worker

/** What each task comes to. */
export interface Prepared {
  upgrade: { copy: string | null }
  /** `unfinished`: why the files may still hold something of them; null where they do not. */
  erasures: { people: number; unfinished: string | null }
}

export type Task = keyof Prepared

export interface PreparationStart {
  task: Task
  dataDir: string
  /** Unix milliseconds. */
  now: number
  /** As the environment says. */
  failpoints: string | undefined
}

/** What the thread does, and how far it is. */
export type PreparationProgress = UpgradeProgress | ErasureProgress

export type PreparationReport =
  | { type: 'progress'; progress: PreparationProgress }
  | { type: 'done'; result: Prepared[Task] }
  /** `name` is that of the error, by which its message is known to be for the operator. */
  | { type: 'failed'; name: string; message: string }

/** Their messages are for the operator as they are. */
const plain = ['UpgradeRefused', 'BackupRefused', 'SchemaMismatch']

const report = (message: PreparationReport) => self.postMessage(message)
const tell = (progress: PreparationProgress) => report({ type: 'progress', progress })

const tasks: { [T in Task]: (start: PreparationStart) => Prepared[T] | Promise<Prepared[T]> } = {
  upgrade,
  erasures: eraseThoseListed,
}

self.onmessage = async ({ data }: { data: PreparationStart }) => {
  try {
    armFailpoints(data.failpoints)
    report({ type: 'done', result: await tasks[data.task](data) })
  } catch (error) {
    const { name = '', message } = error as Partial<Error>
    const told = plain.includes(name) && message ? message : shortReasonOf(error)
    report({ type: 'failed', name, message: told })
  }
}

async function upgrade({ dataDir, now }: PreparationStart) {
  const onProgress = (progress: UpgradeProgress) => {
    tell(progress)
    if (isMidway(progress)) failpoint('migration_step')
  }
  const { copy } = await upgradeDatabase(dataDir, now, { onProgress })
  return { copy }
}

/** Within a step's transaction, when some of it is done. */
const isMidway = (progress: UpgradeProgress) =>
  progress.doing === 'step' && progress.share > 0 && progress.share < 1

function eraseThoseListed({ dataDir, now }: PreparationStart) {
  const prepared = prepareDatabase(dataDir, now)
  try {
    return prepared.finishErasures(progress => {
      tell(progress)
      if (progress.doing === 'compact') failpoint('during_erasure')
    })
  } finally {
    prepared.close()
  }
}
