interface Sample {
  labels: Record<string, string>
  value: number
}

const labelPattern = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** A page of Cairn's own metrics (Prometheus text format), read for its numbers; other lines are passed over. */
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

  /** The value of a name; null where it is not there. */
  gauge(name: string): number | null {
    return this.has(name) ? this.sum(name) : null
  }

  /** The sum of all samples of a name whose label is as asked; 0 where there are none. */
  sum(name: string, isIt: (labels: Record<string, string>) => boolean = () => true): number {
    const samples = this.samples.get(name) ?? []
    return samples.reduce((sum, { labels, value }) => sum + (isIt(labels) ? value : 0), 0)
  }

  /** The sums of a name by one of its labels. */
  by(name: string, label: string): Map<string, number> {
    const sums = new Map<string, number>()
    for (const { labels, value } of this.samples.get(name) ?? []) {
      const key = labels[label] ?? ''
      sums.set(key, (sums.get(key) ?? 0) + value)
    }
    return sums
  }

  label(name: string, label: string): string | null {
    return this.samples.get(name)?.[0]?.labels[label] ?? null
  }
}

/**
 * The upper bound, in the histogram's unit, below which a share of what was observed between two
 * pages lies; null where nothing was. Beyond the last bound it is infinite.
 */
export function quantileBetween(
  from: MetricsPage | null,
  to: MetricsPage,
  histogram: string,
  share: number,
): number | null {
  const buckets = `${histogram}_bucket`
  const before = from?.by(buckets, 'le') ?? new Map<string, number>()
  const counts = [...to.by(buckets, 'le')]
    .map(([le, count]) => ({
      bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le),
      count: count - (before.get(le) ?? 0),
    }))
    .toSorted((a, b) => a.bound - b.bound)
  const total = counts.at(-1)?.count ?? 0
  if (total <= 0) return null
  return counts.find(({ count }) => count >= share * total)?.bound ?? null
}
