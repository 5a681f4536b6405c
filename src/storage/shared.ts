import { WindowTable } from '../core/window-table.ts'
import { BufferGauge } from './buffer-gauge.ts'
import { IdentityBoard } from './identity-board.ts'
import { PresenceBoard } from './presence-board.ts'

/** Organisations that the shared tables have room for. Untouched pages cost no memory. */
export const mostOrganisations = 131_072

/** Memory that all threads of the process see. */
export interface SharedMemory {
  windows: SharedArrayBuffer
  presence: SharedArrayBuffer
  identity: SharedArrayBuffer
  buffer: SharedArrayBuffer
  /** One word that grows with every change of the catalogue. */
  generation: SharedArrayBuffer
}

export function newSharedMemory(): SharedMemory {
  return {
    windows: WindowTable.memory(mostOrganisations + 1),
    presence: PresenceBoard.memory(mostOrganisations + 1),
    identity: IdentityBoard.memory(mostOrganisations + 1),
    buffer: BufferGauge.memory(),
    generation: new SharedArrayBuffer(4),
  }
}
