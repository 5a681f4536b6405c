import type { ServiceManager } from './service-manager.ts'

/** How often the service manager is told how this is, milliseconds; what it asks for if that is more often. */
const tellEveryMs = 1_000
/** How long the service manager is asked to go on waiting while this starts, each time it is told. */
const startsWithinMs = 60_000

/** Tells the service manager what takes so long, until what this returns is called. */
export function tellOfStart(
  manager: ServiceManager | null,
  preparing: () => string | null,
): () => void {
  manager?.status('Preparing the database')
  const tell = () => manager?.starting(preparing() ?? 'Starting', startsWithinMs)
  const telling = setInterval(tell, tellEveryMs)
  return () => clearInterval(telling)
}

/** How a server is, for whoever asks. */
interface Served {
  status(): string
  /** Whether only a new start can heal it. */
  isHopeless(): boolean
  isStopping(): boolean
}

/** Tells the service manager that the server is ready, and from then on how it is. */
export function tellOfService(manager: ServiceManager, server: Served): void {
  let told = server.status()
  manager.status(told)
  manager.ready()
  // A third of what it waits for: one that comes late is no reason to be restarted.
  const everyMs = Math.min(tellEveryMs, (manager.watchdogMs ?? Number.POSITIVE_INFINITY) / 3)
  const tell = () => {
    if (server.isStopping()) return
    if (manager.watchdogMs !== null && !server.isHopeless()) manager.alive()
    const status = server.status()
    if (status !== told) manager.status(status)
    told = status
  }
  tell()
  setInterval(tell, everyMs).unref()
}
