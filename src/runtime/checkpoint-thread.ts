import '../test-clock.ts'
import { openForWriting } from '../storage/sqlite/database/database.ts'
import { type Checkpoint, writeBack } from '../storage/sqlite/database/log-keeper.ts'

/** The thread that writes the write-ahead log back into the database, because a slow disk takes long to sync. */

declare const self: Worker

/** Write the log of a data directory back, or end. */
export type CheckpointTask = { dataDir: string } | 'end'

export type CheckpointReport = Checkpoint | { fault: string } | 'ended'

const report = (message: CheckpointReport) => self.postMessage(message)

let database: ReturnType<typeof openForWriting> | null = null

self.onmessage = ({ data: task }: { data: CheckpointTask }) => {
  try {
    if (task === 'end') {
      database?.close()
      report('ended')
      return
    }
    database ??= openForWriting(task.dataDir)
    report(writeBack(database))
  } catch (error) {
    report({ fault: String(error) })
  }
}
