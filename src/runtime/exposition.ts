/** Names and values of labels; each value comes from a fixed list, so that no caller makes series. */
export type Labels = Readonly<Record<string, string>>

const escaped = (value: string) => value.replace(/[\\"\n]/g, c => (c === '\n' ? '\\n' : `\\${c}`))

function labelsAsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/**
 * A page in the Prometheus text format 0.0.4: a family says once what it is, then come its samples.
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

  /** A family of one sample that goes up and down; left out where it is not known. */
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
