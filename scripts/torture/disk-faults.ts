import { mkdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Server } from '../support/binary.ts'
import type { DiskStage } from './disk-stage.ts'
import { FaultyCalls, type Injection } from './faulty-calls.ts'

/** Ends a fault. */
type Heal = () => unknown

export interface Fault {
  name: string
  /** Whether no commit can pass while it lasts. */
  isTotal: boolean
  strike(stage: DiskStage, server: Server): Heal | Promise<Heal>
}

const calls = (injection: Injection) => async (_: DiskStage, server: Server) => {
  const faulty = await FaultyCalls.in(server.child.pid, injection)
  return () => faulty.heal()
}

/** Takes the database's files out of their place. */
async function moveAway({ dataDir }: DiskStage): Promise<Heal> {
  const away = join(dataDir, 'away')
  const names = ['cairn.db', 'cairn.db-wal', 'cairn.db-shm']
  await mkdir(away)
  for (const name of names) await rename(join(dataDir, name), join(away, name))
  return async () => {
    for (const name of names) await rename(join(away, name), join(dataDir, name))
    await rmdir(away)
  }
}

export const faults: readonly Fault[] = [
  {
    name: 'disk full',
    // The disk space that the log had taken before can still be written.
    isTotal: false,
    strike({ disk }) {
      disk.fill()
      return () => disk.free()
    },
  },
  {
    name: 'read-only file system',
    isTotal: true,
    strike: calls({ calls: 'pwrite64,ftruncate', fault: 'error=EROFS' }),
  },
  {
    name: 'writes fail (EIO)',
    isTotal: true,
    strike: calls({ calls: 'pwrite64', fault: 'error=EIO' }),
  },
  {
    name: 'syncs fail (EIO)',
    isTotal: true,
    strike: calls({ calls: 'fsync,fdatasync', fault: 'error=EIO' }),
  },
  { name: 'database moved away', isTotal: true, strike: moveAway },
]
