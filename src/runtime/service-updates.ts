import type { ServiceManager } from './service-manager.ts'

/** How often the service manager is told the status, milliseconds; more often if it asks for that. */
const tellEveryMs = 1_000
/** How much longer the service manager is asked to wait during a start, each time it is told. */
const startsWithinMs = 60_000

/** Tells the service manager what takes so long, until the returned function is called. */
export function tellOfStart(
  manager: ServiceManager | null,
  preparing: () => string | null,
): () => void {
  manager?.status('Preparing the database')
  const tell = () => manager?.starting(preparing() ?? 'Starting', startsWithinMs)
  const telling = setInterval(tell, tellEveryMs)
  return () => clearInterval(telling)
}

/** The status of a server. */
interface Served {
  status(): string
  isStopping(): boolean
}

/** Tells the service manager that the server is ready, and from then on its status. */
export function tellOfService(manager: ServiceManager, server: Served): void {
  let told = server.status()
  manager.status(told)
  manager.ready()
  // A third of the time that it waits, so that one late message is no reason for a restart.
  const everyMs = Math.min(tellEveryMs, (manager.watchdogMs ?? Number.POSITIVE_INFINITY) / 3)
  const tell = () => {
    if (server.isStopping()) return
    if (manager.watchdogMs !== null) manager.alive()
    const status = server.status()
    if (status !== told) manager.status(status)
    told = status
  }
  tell()
  setInterval(tell, everyMs).unref()
}
