import { constants } from 'node:os'

/**
 * The system spares process 1, as which a container runs its program, every signal for which it has no handler:
 * a stop would be lost, and the engine would kill the process when its patience ends. So a signal that nothing
 * else listens to ends it here, as it would end any other process. Imported before anything that takes time.
 */
if (process.pid === 1) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal])
    })
  }
}
