import { version } from '../core/version.ts'

/** What the management port asks of the server. */
export interface Health {
  /** Why the server is not ready, in words; empty when it is. */
  notReady(): string[]
  metrics(): string
}

const text = (status: number, body: string, contentType = 'text/plain; charset=utf-8') =>
  new Response(body, { status, headers: { 'content-type': contentType } })

/**
 * The port for whoever runs the server: alive, ready, metrics. It needs no credential, so it
 * listens on this machine alone unless told otherwise.
 */
export function serveManagement(
  address: { hostname: string; port: number },
  health: Health,
): Bun.Server<undefined> {
  return Bun.serve({
    ...address,
    fetch(request) {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return text(405, 'Only GET and HEAD\n')
      }
      switch (new URL(request.url).pathname) {
        case '/healthz':
          return text(200, `ok ${version}\n`)
        case '/readyz': {
          const reasons = health.notReady()
          if (reasons.length === 0) return text(200, 'ready\n')
          return text(503, `${reasons.join('\n')}\n`)
        }
        case '/metrics':
          return text(200, health.metrics(), 'text/plain; version=0.0.4; charset=utf-8')
        default:
          return text(404, 'Here are /healthz, /readyz and /metrics\n')
      }
    },
  })
}
