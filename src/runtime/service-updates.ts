import type { ServiceManager } from './service-manager.ts'

/** How often the status is sent to the service manager, milliseconds; more often if it wants that. */
const tellEveryMs = 1_000
/** How much longer the service manager should wait during a start, with each status. */
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
  let sent = server.status()
  manager.status(sent)
  manager.ready()
  // A third of the time that it waits, so that one late message is no reason for a restart.
  const everyMs = Math.min(tellEveryMs, (manager.watchdogMs ?? Number.POSITIVE_INFINITY) / 3)
  const tell = () => {
    if (server.isStopping()) return
    if (manager.watchdogMs !== null) manager.alive()
    const status = server.status()
    if (status !== sent) manager.status(status)
    sent = status
  }
  tell()
  setInterval(tell, everyMs).unref()
}
