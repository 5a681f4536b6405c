import type { Config } from '../config/settings.ts'

/** A port is not available, in words for the person who chose it. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken'
}

/** The ports below it are the system's own unless it is configured otherwise. */
const firstFreePort = 1_024

/** A port that nobody else listens on until it is released. */
export interface HeldPort {
  port: number
  letGo(): void
}

/**
 * Makes sure that nobody listens on a port, and chooses one for port 0. Until it is released, requests to it get
 * 503.
 *
 * @param portSetting how to choose another port, for the error
 * @param addressSetting how to choose another address; the two are named alike
 * @throws PortTaken
 */
export function holdPort(
  hostname: string,
  port: number,
  portSetting: string,
  addressSetting?: string,
): HeldPort {
  const busy = () => new Response(null, { status: 503 })
  const listen = () => Bun.serve({ hostname, port, reusePort: false, fetch: busy })
  const server = listening({ hostname, port, portSetting, addressSetting }, listen)
  return { port: server.port ?? port, letGo: () => server.stop(true) }
}

/** Like `holdPort`, for one port alone: it is released at once. */
export function claimPort(...wanted: Parameters<typeof holdPort>): number {
  const { port, letGo } = holdPort(...wanted)
  letGo()
  return port
}

/**
 * Listens on a port.
 *
 * @throws PortTaken whose cause is the system's error
 */
export function listening<Server>(place: ListeningPlace, listen: () => Server): Server {
  try {
    return listen()
  } catch (error) {
    const code = String((error as { code?: string }).code ?? error)
    throw new PortTaken(portProblem(code, place), { cause: error })
  }
}

export const portSetting = 'CAIRN_PORT or --port'
export const managementPortSetting = 'CAIRN_MANAGEMENT_PORT or --management-port'

/** Chooses the two ports of a server, which must differ. */
export function claimPorts({ host, port, managementHost, managementPort }: PortsWanted) {
  const api = holdPort(host, port, portSetting)
  try {
    const management = claimPort(managementHost, managementPort, managementPortSetting)
    return { port: api.port, managementPort: management }
  } finally {
    api.letGo()
  }
}

type PortsWanted = Pick<Config, 'host' | 'port' | 'managementHost' | 'managementPort'>

/** Where a server wants to listen, and how to choose another port and address. */
interface ListeningPlace {
  hostname: string
  port: number
  portSetting: string
  /** Named like the port's, unless it is given. */
  addressSetting?: string | undefined
}

/** What a system error means, and which setting fixes it. */
export function portProblem(code: string, place: ListeningPlace): string {
  const { hostname, port, portSetting } = place
  const addressSetting =
    place.addressSetting ?? portSetting.replaceAll('PORT', 'HOST').replaceAll('port', 'host')
  if (code === 'EADDRINUSE') {
    return `Port ${port} on ${hostname} is taken: choose another by ${portSetting}`
  }
  if (/^(EACCES|EPERM)$/.test(code) && port < firstFreePort) {
    return `Port ${port} is below ${firstFreePort}, which this user may not listen on: choose a higher one by ${portSetting}, or give the process the capability CAP_NET_BIND_SERVICE`
  }
  return `Cannot listen on ${hostname}:${port} (${code}): choose another port by ${portSetting}, or another address of this machine by ${addressSetting}`
}
