import { version } from '../core/version.ts'
import { Exposition } from './exposition.ts'

/** What the management port needs from the server. */
export interface Health {
  /** Why the server is not ready, in words; empty when it is. */
  notReady(): string[]
  /** What is wrong although the server is ready, in words. */
  warnings(): string[]
  metrics(): string
}

const text = (status: number, body: string, headers: Record<string, string> = {}) =>
  new Response(body, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
    },
  })

/** Not parsed with `URL`, which throws if the Host header is nonsense. */
const pathOf = ({ url }: Request) => url.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/[?#].*$/, '')

/**
 * The port for those who run the server: alive, ready, metrics. It needs no credential, so it listens on this
 * machine alone unless configured otherwise.
 */
export function serveManagement(
  address: { hostname: string; port: number },
  health: Health,
): Bun.Server<undefined> {
  return Bun.serve({
    ...address,
    // Bun's error page would show Cairn's source.
    development: false,
    error: () => text(500, 'Something went wrong; the process is alive\n'),
    fetch(request) {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return text(405, 'Use GET or HEAD\n', { allow: 'GET, HEAD' })
      }
      switch (pathOf(request)) {
        case '/healthz':
          return text(200, `ok ${version}\n`)
        case '/readyz': {
          const reasons = health.notReady()
          if (reasons.length === 0) {
            const warnings = health.warnings().map(warning => `warning: ${warning}\n`)
            return text(200, `ready\n${warnings.join('')}`)
          }
          return text(503, `${reasons.join('\n')}\n`)
        }
        case '/metrics':
          return text(200, health.metrics(), { 'content-type': Exposition.contentType })
        default:
          return text(404, 'This port has /healthz, /readyz and /metrics\n')
      }
    },
  })
}
