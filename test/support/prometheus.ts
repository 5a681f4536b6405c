/**
 * Reads the Prometheus text format 0.0.4 strictly, and throws if a page breaks its rules. Shares
 * nothing with the product.
 */

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export class MetricsPage {
  readonly samples: Sample[] = []
  readonly types = new Map<string, string>()

  constructor(text: string) {
    if (!text.endsWith('\n')) throw new Error('The last line has no line feed')
    const helped = new Set<string>()
    const series = new Set<string>()
    const closed = new Set<string>()
    let family = ''
    for (const line of text.slice(0, -1).split('\n')) {
      const [, keyword, name = '', rest = ''] =
        /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? []
      if (keyword === 'HELP') {
        if (helped.has(name)) throw new Error(`${name} is helped twice`)
        helped.add(name)
        closed.add(family)
        family = name
      } else if (keyword === 'TYPE') {
        if (name !== family || this.types.has(name)) throw new Error(`TYPE out of place: ${line}`)
        if (!['counter', 'gauge', 'histogram'].includes(rest)) throw new Error(`Type: ${line}`)
        this.types.set(name, rest)
      } else {
        const sample = sampleIn(line)
        if (this.familyOf(sample.name) !== family || closed.has(family)) {
          throw new Error(`Outside its family: ${line}`)
        }
        const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`
        if (series.has(key)) throw new Error(`Twice: ${line}`)
        series.add(key)
        this.samples.push(sample)
      }
    }
    this.checkNames()
    this.checkHistograms()
  }

  /** The sum of all samples of a name that have these labels. */
  sum(name: string, labels: Record<string, string> = {}): number {
    return this.of(name, labels).reduce((sum, { value }) => sum + value, 0)
  }

  of(name: string, labels: Record<string, string> = {}): Sample[] {
    return this.samples.filter(
      sample =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )
  }

  private familyOf(name: string): string {
    const base = name.replace(/_(bucket|sum|count)$/, '')
    return this.types.get(base) === 'histogram' ? base : name
  }

  private checkNames(): void {
    for (const [name, type] of this.types) {
      if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`Name: ${name} ${type}`)
    }
    for (const { name, value } of this.samples) {
      if (this.types.get(name) !== 'gauge' && !(value >= 0)) throw new Error(`${name} ${value}`)
    }
  }

  private checkHistograms(): void {
    for (const [family, type] of this.types) {
      if (type !== 'histogram') continue
      const own = this.samples.filter(({ name }) => name.startsWith(family))
      const groups = Map.groupBy(own, ({ labels: { le, ...labels } }) => JSON.stringify(labels))
      for (const group of groups.values()) {
        const buckets = group.filter(({ name }) => name === `${family}_bucket`)
        const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('+Inf', 'Infinity')))
        const counts = buckets.map(({ value }) => value)
        const count = group.find(({ name }) => name === `${family}_count`)?.value
        const sum = group.find(({ name }) => name === `${family}_sum`)?.value
        const ascends = (values: number[]) => values.every((v, i) => i === 0 || v >= values[i - 1]!)
        if (!ascends(bounds) || !ascends(counts)) throw new Error(`${family} is not cumulative`)
        if (bounds.at(-1) !== Infinity) throw new Error(`${family} has no +Inf`)
        if (counts.at(-1) !== count || sum === undefined) throw new Error(`${family}: count or sum`)
      }
    }
  }
}

function sampleIn(line: string): Sample {
  const [, name, inner = '', number] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  const value = Number(number)
  if (name === undefined || Number.isNaN(value)) throw new Error(`No sample: ${line}`)
  const labels: Record<string, string> = {}
  let rest = inner
  while (rest !== '') {
    const [whole, label = '', text = ''] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/.exec(rest) ?? []
    if (whole === undefined || label in labels) throw new Error(`Labels: ${line}`)
    labels[label] = text.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c))
    rest = rest.slice(whole.length)
  }
  return { name, labels, value }
}
