import { join } from 'node:path'

/** Where a running server lets its operator in: a socket that only the owner of the directory can open. */
export const socketFile = (dataDir: string): string => join(dataDir, 'cairn.sock')
