/** What a report of `bun test` in JUnit's form says, as far as `scripts/test` needs it. */

export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** Sums over the whole run, which stand at the outermost element. */
export function countsIn(report: string): Counts {
  const head = /<testsuites [^>]*>/.exec(report)?.[0] ?? ''
  const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0)
  const [failed, skipped] = [count('failures'), count('skipped')]
  return { passed: count('tests') - failed - skipped, failed, skipped }
}

/** The failed tests, by file. */
export function failedIn(report: string): Map<string, string[]> {
  const failed = new Map<string, string[]>()
  for (const [, attributes = ''] of report.matchAll(/<testcase ([^>]*[^/])>\s*<failure/g)) {
    const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
    failed.set(value('file'), [...(failed.get(value('file')) ?? []), value('name')])
  }
  return failed
}
