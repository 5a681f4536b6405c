import { shortReasonOf } from '../core/reason.ts'
import { type UpgradeProgress, upgradeDatabase } from '../storage/upgrade.ts'
import { type ArmedFailpoints, failpoint } from './failpoints.ts'

/** The thread that brings an older database up to date, before any other opens it. */

declare const self: Worker

export interface UpgradeStart {
  dataDir: string
  /** Unix milliseconds. */
  now: number
  failpoints: ArmedFailpoints
}

export type UpgradeReport =
  | { type: 'progress'; progress: UpgradeProgress }
  | { type: 'done'; copy: string | null }
  /** `name` is that of the error, by which its message is known to be for the operator. */
  | { type: 'failed'; name: string; message: string }

/** Their messages are for the operator as they are. */
const plain = ['UpgradeRefused', 'BackupRefused', 'SchemaMismatch']

const report = (message: UpgradeReport) => self.postMessage(message)

self.onmessage = async ({ data }: { data: UpgradeStart }) => {
  try {
    const { dataDir, now, failpoints } = data
    const failMidway = failpoint(failpoints, 'migration_step')
    const onProgress = (progress: UpgradeProgress) => {
      report({ type: 'progress', progress })
      if (isMidway(progress)) failMidway?.()
    }
    const { copy } = await upgradeDatabase(dataDir, now, { onProgress })
    report({ type: 'done', copy })
  } catch (error) {
    const { name = '', message } = error as Partial<Error>
    const told = plain.includes(name) && message ? message : shortReasonOf(error)
    report({ type: 'failed', name, message: told })
  }
}

/** Within a step's transaction, when some of it is done. */
const isMidway = (progress: UpgradeProgress) =>
  progress.doing === 'step' && progress.share > 0 && progress.share < 1
