/** Runs the checks and the tests for `scripts/test`, which says what there is. */
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { type Counts, countsIn, failedIn } from './report/junit.ts'
import { haproxyProgram } from './support/haproxy.ts'
import { postgresPrograms } from './support/postgres.ts'
import { valkeyProgram } from './support/valkey.ts'

const root = resolve(import.meta.dir, '..')
const isLong = Bun.argv.includes('--long')
const isForgiving = isLong || Bun.argv.includes('--forgive')
const options = Bun.argv.slice(2).filter(option => !['--long', '--forgive'].includes(option))
const reportFile = join(root, 'dist/junit.xml')
const unsteadyFile = join(root, 'test/unsteady.json')
const unsteadyBefore: string[] = await Bun.file(unsteadyFile).json()
/** The tests of this run that have failed once and passed alone. */
const unsteady: string[] = []

const say = (line: string) => process.stderr.write(`cairn: ${line}\n`)

/** What goes untested on a machine without a program, and the Debian package that has it. */
const needs = [
  [postgresPrograms, 'postgresql', 'several nodes over one PostgreSQL lose and repeat nothing'],
  [valkeyProgram, 'redis-server', 'limits that Valkey or Redis counts are exact'],
  [haproxyProgram, 'haproxy', 'nodes behind a balancer stop without a failed request'],
] as const

/** Runs a program of this checkout to its end. */
async function run(args: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const status = await child.exited
  cpuSeconds += Number(child.resourceUsage()!.cpuTime.total) / 1e6
  return status
}

let cpuSeconds = 0

/** Types, style, and the executable that tests run. */
async function check(): Promise<boolean> {
  say('checking types, style and format, and building')
  const types = async () => {
    for (const project of ['.', 'src/web/dashboard', 'src/web/snippet', 'test/sdk', 'test/web']) {
      const status = await run(['--bun', 'node_modules/.bin/tsc', '--noEmit', '-p', project])
      if (status !== 0) return status
    }
    return 0
  }
  const done = await Promise.all([
    types(),
    run(['--bun', 'node_modules/.bin/biome', 'check', '.']),
    run(['scripts/build.ts']),
  ])
  return done.every(status => status === 0)
}

/**
 * Files run beside each other, one more than there are cores because some tests wait, and those that take
 * longest first (`--update-timings` measures them again; a file that is not listed begins last). The files of
 * a process share what they import, which each of them would compile again.
 *
 * @param report where to write what has passed and failed
 */
async function test(
  report: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Counts> {
  await rm(report, { force: true })
  const status = await run(
    [
      ...['test', '--no-isolate', `--parallel=${availableParallelism() + 1}`],
      ...['--timings=test/timings.json', '--reporter=junit', `--reporter-outfile=${report}`],
      ...args,
    ],
    env,
  )
  const text = existsSync(report) ? await Bun.file(report).text() : ''
  const counts = countsIn(text)
  if (isForgiving && counts.failed > 0 && (await forgive(failedIn(text), env))) {
    return { ...counts, passed: counts.passed + counts.failed, failed: 0 }
  }
  if (status === 0 || counts.failed > 0) return counts
  say(`the run of the tests failed (status ${status}) outside of a test: counted as one failure`)
  return { ...counts, failed: 1 }
}

/** The tests of this run: the quick ones, or the long ones, which quick runs leave out (bunfig.toml). */
async function runTests(): Promise<Counts[]> {
  // A timeout ends what hangs. No quick test takes a tenth of it on a machine of its own.
  if (!isLong) return [await test(reportFile, ['--timeout=120000', ...options])]
  const long = ['--timeout=300000', '--path-ignore-patterns=none', ...options]
  const env = { CAIRN_TEST_LONG: '1' }
  if (options.some(option => !option.startsWith('-'))) return [await test(reportFile, long, env)]
  const all = [await test(reportFile, [...long, 'test/long', ...withMoreExamples()], env)]
  for (const instant of instants) {
    say(`testing what depends on dates as if it were ${instant}`)
    const moved = join(root, `dist/junit-${instant.slice(0, 10)}.xml`)
    all.push(await test(moved, [...long, ...withDates()], { CAIRN_TEST_NOW: instant }))
  }
  return all
}

/** The files whose properties are tried with more examples in the long form. */
const withMoreExamples = () =>
  quickFiles(/support\/rounds\.ts'|conformance\/conformance\.ts'/, /^test\//)

/** The files that depend on dates, without most of those in a browser. */
const withDates = () =>
  quickFiles(/\bDate\b|Berlin/, /^test\/(core|http|modules)\/|\/(results|durations)\.test\.ts$/)

const quickFiles = (text: RegExp, path: RegExp) =>
  [...new Bun.Glob('test/**/*.test.ts').scanSync(root)].filter(
    file =>
      !file.startsWith('test/long/') &&
      path.test(file) &&
      text.test(readFileSync(join(root, file), 'utf8')),
  )

/**
 * Half a minute before a day ends in UTC and in Berlin, a month, a leap day and a year, and before Berlin
 * changes its clocks.
 */
const instants = [
  '2026-12-31T23:59:30Z',
  '2027-01-31T22:59:30Z',
  '2027-03-28T00:59:30Z',
  '2027-10-31T00:59:30Z',
  '2028-02-29T23:59:30Z',
]

/** A change that breaks more files than this is at fault itself. */
const maxForgiven = 3

/**
 * Runs the files of failed tests once more, each alone. A test that then passes is unsteady, which a build
 * forgives once: test/unsteady.json names those of the last build.
 *
 * @returns whether the run may pass
 */
async function forgive(
  failed: ReadonlyMap<string, readonly string[]>,
  env: Record<string, string>,
): Promise<boolean> {
  const now: string[] = []
  if (failed.size > maxForgiven) return false
  for (const [file, names] of failed) {
    say(`running ${file} again, alone`)
    const args = ['test', '--timeout=300000', '--path-ignore-patterns=none', file]
    if ((await run(args, env)) !== 0) return false
    now.push(...names.map(name => `${file}: ${name}`))
  }
  for (const name of now) say(`UNSTEADY ${name}`)
  unsteady.push(...now)
  return now.every(name => !unsteadyBefore.includes(name))
}

const started = performance.now()
for (const [found, name, guarantee] of needs) {
  if (!found) say(`not tested without ${name} (Debian: apt install ${name}): ${guarantee}`)
}
if (!isLong && !(await check())) process.exit(1)
say('testing')
const runs = await runTests()
if (isForgiving) await Bun.write(unsteadyFile, `${JSON.stringify(unsteady, null, 2)}\n`)
const sum = (count: keyof Counts) => runs.reduce((all, one) => all + one[count], 0)
const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
const ranNone = passed === 0 && failed === 0
if (ranNone) say('no test ran')
const seconds = (performance.now() - started) / 1_000
say(`${seconds.toFixed(0)} s, ${cpuSeconds.toFixed(0)} s of CPU`)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exit(failed > 0 || ranNone ? 1 : 0)
