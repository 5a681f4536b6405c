import { nearestRank } from '../../../src/core/number/statistics.ts'
/** What a polite client has seen. */
export interface Courtesy {
  /** How long each answer took, milliseconds. */
  durations: number[]
  /** Answers that were wrong or did not come. */
  failures: string[]
}

export function courtesyText(durations: readonly number[]): string {
  const sorted = durations.toSorted((a, b) => a - b)
  const at = (share: number) => (nearestRank(sorted, share) ?? 0).toFixed(1)
  return `${sorted.length} answers, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

/** A client that asks for flows and sends events all the time, in a thread of its own. */
export class Polite implements Disposable {
  private readonly worker = new Worker(new URL('./polite-worker.ts', import.meta.url).href)

  constructor(url: string, snippetKey: string) {
    this.worker.postMessage({ url, snippetKey })
  }

  /** What it has seen since the last call. */
  async seen(): Promise<Courtesy> {
    const { promise, resolve } = Promise.withResolvers<Courtesy>()
    this.worker.onmessage = ({ data }: MessageEvent<Courtesy>) => resolve(data)
    this.worker.postMessage('seen')
    return promise
  }

  [Symbol.dispose](): void {
    this.worker.terminate()
  }
}
