import { Webhook } from 'standardwebhooks'
import { until } from '../../scripts/support/until.ts'

export interface Received {
  id: string
  /** As it was sent. */
  text: string
  message: { type: string; timestamp: string; data: Record<string, unknown> }
  signatures: string[]
  headers: Headers
}

/** A receiver of webhooks. It checks their signatures only with the standard's own library. */
export class WebhookReceiver {
  readonly received: Received[] = []
  /** What it answers; null to never answer. */
  answer: () => Response | null = () => new Response(null, { status: 204 })
  private readonly server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async request => {
      const text = await request.text()
      const { headers } = request
      this.received.push({
        ...{ id: headers.get('webhook-id')!, text, message: JSON.parse(text), headers },
        signatures: headers.get('webhook-signature')!.split(' '),
      })
      return this.answer() ?? new Promise<Response>(() => {})
    },
  })

  get url(): string {
    return `http://127.0.0.1:${this.server.port}/hook`
  }

  /** Throws unless a message is signed by a secret. */
  static verify({ text, headers }: Received, secret: string): void {
    new Webhook(secret).verify(text, Object.fromEntries(headers))
  }

  /** Resolves with the message at a place, counted from 0, once it is there. */
  async at(place: number): Promise<Received> {
    await until(() => this.received.length > place)
    return this.received[place]!
  }

  close(): Promise<void> {
    return this.server.stop(true)
  }
}
