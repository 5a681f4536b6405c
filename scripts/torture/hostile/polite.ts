/** What a polite client has seen. */
export interface Courtesy {
  answers: number
  p99Ms: number
  slowestMs: number
  failures: string[]
}

/** A client that asks for flows and sends events all the while, in a thread of its own. */
export class Polite {
  private readonly worker = new Worker(new URL('./polite-worker.ts', import.meta.url).href)

  constructor(url: string, snippetKey: string) {
    this.worker.postMessage({ url, snippetKey })
  }

  /** What it has seen since it was last asked. */
  async seen(): Promise<Courtesy> {
    const { promise, resolve } = Promise.withResolvers<Courtesy>()
    this.worker.onmessage = ({ data }: MessageEvent<Courtesy>) => resolve(data)
    this.worker.postMessage('seen')
    return promise
  }

  stop(): void {
    this.worker.terminate()
  }
}
