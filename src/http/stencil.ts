const exposed = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'ETag',
  'X-Request-Id',
].join(', ')

/**
 * The headers of a reply that is given again and again. A response copies the headers that it is
 * made with, which costs a third of naming them one by one; so they are kept, and of those that
 * differ from one response to the next only what has changed is set before the next is made.
 */
export class Stencil {
  readonly headers: Headers
  private lastLimit = -1
  private lastRemaining = -1
  private lastReset = -1
  private lastOrigin: string | null = null

  /** @param fixed those that are the same each time */
  constructor(fixed: Readonly<Record<string, string>>) {
    this.headers = new Headers(fixed)
  }

  set limit(requests: number) {
    if (requests === this.lastLimit) return
    this.lastLimit = requests
    this.headers.set('X-RateLimit-Limit', `${requests}`)
  }

  set remaining(requests: number) {
    if (requests === this.lastRemaining) return
    this.lastRemaining = requests
    this.headers.set('X-RateLimit-Remaining', `${requests}`)
  }

  /** Unix seconds. */
  set reset(seconds: number) {
    if (seconds === this.lastReset) return
    this.lastReset = seconds
    this.headers.set('X-RateLimit-Reset', `${seconds}`)
  }

  set requestId(id: string) {
    this.headers.set('X-Request-Id', id)
  }

  /**
   * Who may read the answer (Fetch standard, CORS protocol). Any origin is let in with credentials:
   * a beacon always sends them, and Cairn uses no cookie.
   */
  set origin(origin: string | null) {
    if (origin === this.lastOrigin) return
    const { headers } = this
    if (origin === null) {
      headers.delete('Access-Control-Allow-Origin')
      headers.delete('Access-Control-Allow-Credentials')
      headers.delete('Access-Control-Expose-Headers')
    } else {
      headers.set('Access-Control-Allow-Origin', origin)
      headers.set('Access-Control-Allow-Credentials', 'true')
      headers.set('Access-Control-Expose-Headers', exposed)
    }
    this.lastOrigin = origin
  }
}
