import { createServer } from 'node:net'

/**
 * Below the ports that systems give to clients (on Linux, from 32768 on), because one of those could be taken
 * before the server listens on it.
 */
const range = { from: 15_000, to: 32_000 }

/** A port of this machine that is free now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.from + Math.floor(Math.random() * (range.to - range.from))
    const server = createServer()
    const isFree = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise(resolve => server.close(resolve))
    return port
  }
}
