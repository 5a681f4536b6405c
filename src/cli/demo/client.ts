import { CommandFailure } from '../failure.ts'

/** How often a refused request is sent again before the demo gives up. */
const mostTries = 20

/** Calls the API as a page or a back end would, and comes back later where it is told to. */
export class DemoClient {
  constructor(
    private readonly url: string,
    private readonly snippetKey: string,
    private readonly onWait: (seconds: number) => void,
  ) {}

  get(path: string): Promise<unknown> {
    return this.call('GET', path)
  }

  post(path: string, body: unknown): Promise<unknown> {
    return this.call('POST', path, JSON.stringify(body))
  }

  private async call(method: string, path: string, body?: string): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      const response = await fetch(`${this.url}/api/v1${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${this.snippetKey}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
      })
      const text = await response.text()
      if (response.ok) return text === '' ? null : JSON.parse(text)
      const isPassing = response.status === 429 || response.status === 503
      if (!isPassing || tries === mostTries) {
        throw new CommandFailure(
          `the demo's ${method} ${path} was refused with ${response.status}: ${text.slice(0, 200)}`,
        )
      }
      const seconds = Math.max(1, Number(response.headers.get('retry-after')) || 1)
      this.onWait(seconds)
      await Bun.sleep(seconds * 1000)
    }
  }
}
