import { shortReasonOf } from '../core/reason.ts'
import { type UpgradeProgress, upgradeDatabase } from '../storage/upgrade.ts'

/** The thread that brings an older database up to date, before any other opens it. */

declare const self: Worker

export interface UpgradeStart {
  dataDir: string
  /** Unix milliseconds. */
  now: number
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
    const onProgress = (progress: UpgradeProgress) => report({ type: 'progress', progress })
    const { copy } = await upgradeDatabase(data.dataDir, data.now, { onProgress })
    report({ type: 'done', copy })
  } catch (error) {
    const { name = '', message } = error as Partial<Error>
    const told = plain.includes(name) && message ? message : shortReasonOf(error)
    report({ type: 'failed', name, message: told })
  }
}
