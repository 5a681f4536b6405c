/** A port cannot be had, in words for the person who chose it. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken'
}

/**
 * Makes sure that nobody listens on a port, and chooses one for port 0.
 *
 * HTTP threads share a port, and with that permission a second program on the same port would
 * start without an error: so the port is first taken alone, and let go again.
 *
 * @param setting how to choose another, for the error
 * @throws PortTaken
 */
export function claimPort(hostname: string, port: number, setting: string): number {
  try {
    const server = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response() })
    const claimed = server.port ?? port
    server.stop(true)
    return claimed
  } catch (error) {
    const code = (error as { code?: string }).code
    const reason =
      code === 'EADDRINUSE'
        ? `Port ${port} on ${hostname} is taken`
        : `Cannot listen on ${hostname}:${port} (${code ?? error})`
    throw new PortTaken(`${reason}: choose another by ${setting}`, { cause: error })
  }
}
