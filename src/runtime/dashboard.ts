import type { AppDeps } from '../app.ts'
import type { Config } from '../config.ts'
import { sessionKey } from './session-key.ts'

/** What the dashboard needs to know of a server; null where it has none. */
export function dashboardFor(config: Config): AppDeps['dashboard'] {
  if (config.dashboard === 'off') return null
  return { publicUrl: config.publicUrl, serverKey: () => sessionKey(config.data) }
}
