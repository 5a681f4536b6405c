import type { Server } from '../../scripts/support/binary.ts'

export * from '../../scripts/support/binary.ts'

/** A connection on which a test writes what fetch would not, and reads everything that comes back. */
export async function rawConnection(server: Server) {
  const { port, hostname } = new URL(server.url)
  const connection = { received: '', isClosed: false }
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, data) {
        connection.received += data.toString()
      },
      close() {
        connection.isClosed = true
      },
      error() {
        connection.isClosed = true
      },
    },
  })
  return Object.assign(connection, {
    write: (text: string) => socket.write(text),
    end: () => socket.end(),
  })
}

/** The head of a POST to `/events`, up to the headers that frame its body. */
export const eventsHead = (snippetKey: string) =>
  `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${snippetKey}\r\n`
