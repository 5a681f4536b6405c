/** Names and values of labels. Each value comes from a fixed list, so that callers cannot create series. */
export type Labels = Readonly<Record<string, string>>

const escaped = (value: string) => value.replace(/[\\"\n]/g, c => (c === '\n' ? '\\n' : `\\${c}`))

function labelsAsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/**
 * A page in the Prometheus text format 0.0.4: each family is declared once, and its samples follow.
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export class Exposition {
  static readonly contentType = 'text/plain; version=0.0.4; charset=utf-8'
  private readonly lines: string[] = []

  family(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): void {
    this.lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
  }

  sample(name: string, value: number, labels: Labels = {}): void {
    this.lines.push(`${name}${labelsAsText(labels)} ${value}`)
  }

  /** A family of one sample that goes up and down; left out if the value is not known. */
  gauge(name: string, help: string, value: number | null): void {
    if (value === null) return
    this.family(name, 'gauge', help)
    this.sample(name, value)
  }

  /** A family of one sample that only grows. */
  counter(name: string, help: string, value: number): void {
    this.family(name, 'counter', help)
    this.sample(name, value)
  }

  toString(): string {
    return `${this.lines.join('\n')}\n`
  }
}

/** Counts values by the range that they are in. */
export class Histogram {
  /** One for each bound, and one for what is beyond the last. */
  private readonly counts: number[]
  private sum = 0

  /** @param bounds upper bounds, inclusive, ascending */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = Array(bounds.length + 1).fill(0)
  }

  observe(value: number): void {
    const { bounds, counts } = this
    let place = 0
    while (place < bounds.length && value > bounds[place]!) place++
    counts[place]!++
    this.sum += value
  }

  render(page: Exposition, name: string, labels: Labels = {}): void {
    let below = 0
    for (const [i, count] of this.counts.entries()) {
      below += count
      page.sample(`${name}_bucket`, below, { ...labels, le: `${this.bounds[i] ?? '+Inf'}` })
    }
    page.sample(`${name}_sum`, this.sum, labels)
    page.sample(`${name}_count`, below, labels)
  }
}
