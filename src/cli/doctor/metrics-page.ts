interface Sample {
  labels: Record<string, string>
  value: number
}

const labelPattern = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** A page of Cairn's own metrics (Prometheus text format), read for its numbers; other lines are skipped. */
export class MetricsPage {
  private readonly samples = new Map<string, Sample[]>()

  constructor(text: string) {
    for (const line of text.split('\n')) {
      const [, name = '', labels = '', value = ''] =
        /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (name === '') continue
      const pairs = [...labels.matchAll(labelPattern)].map(([, key, text]) => [key, text])
      const sample = { labels: Object.fromEntries(pairs), value: Number(value) }
      const ofName = this.samples.get(name)
      if (ofName) ofName.push(sample)
      else this.samples.set(name, [sample])
    }
  }

  has(name: string): boolean {
    return this.samples.has(name)
  }

  /** The value of a name; null if it is not there. */
  gauge(name: string): number | null {
    return this.has(name) ? this.sum(name) : null
  }

  /** The sum of all samples of a name whose labels match; 0 if there are none. */
  sum(name: string, isIt: (labels: Record<string, string>) => boolean = () => true): number {
    const samples = this.samples.get(name) ?? []
    return samples.reduce((sum, { labels, value }) => sum + (isIt(labels) ? value : 0), 0)
  }
}
