import type { Organisation } from '../core/organisation/catalogue.ts'
import { IdentityBoard, PresenceBoard, ProgressBoard } from './boards.ts'
import { type EchoMemory, newEchoMemory } from './erasure/echo.ts'
import { rowOf } from './in-rows.ts'
import { BufferGauge } from './writer/client.ts'

/** Organisations that the shared tables have room for. Untouched pages cost no memory. */
export const mostOrganisations = 131_072

/** An organisation's place in tables that threads share: its row, which counts from 1. */
export const slotOf = ({ ref }: Pick<Organisation, 'ref'>): number => rowOf(ref)

/** Memory that all threads of the process see. */
export interface SharedMemory {
  presence: SharedArrayBuffer
  identity: SharedArrayBuffer
  progress: SharedArrayBuffer
  buffer: SharedArrayBuffer
  /** One word that grows with every change of the catalogue. */
  generation: SharedArrayBuffer
  echo: EchoMemory
}

export function newSharedMemory(): SharedMemory {
  return {
    presence: PresenceBoard.memory(mostOrganisations + 1),
    identity: IdentityBoard.memory(mostOrganisations + 1),
    progress: ProgressBoard.memory(),
    buffer: BufferGauge.memory(),
    generation: new SharedArrayBuffer(4),
    echo: newEchoMemory(),
  }
}
