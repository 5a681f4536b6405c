/** Runs the checks and the tests for `scripts/test`, which says what there is. */
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { countsIn, failedIn } from './report/junit.ts'
import { haproxyProgram } from './support/haproxy.ts'
import { postgresPrograms } from './support/postgres.ts'
import { valkeyProgram } from './support/valkey.ts'

const root = resolve(import.meta.dir, '..')
const isLong = Bun.argv.includes('--long')
const options = Bun.argv.slice(2).filter(option => option !== '--long')
const report = join(root, 'dist/junit.xml')
const unsteady = 'test/unsteady.json'

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
 * longest first (`--update-timings` measures them again). The files of a process share what they import,
 * which each of them would compile again.
 */
const tests = (args: readonly string[], env: Record<string, string> = {}): Promise<number> =>
  run(
    [
      ...['test', '--no-isolate', `--parallel=${availableParallelism() + 1}`],
      ...['--timings=test/timings.json', '--reporter=junit', `--reporter-outfile=${report}`],
      ...args,
    ],
    env,
  )

/** The tests of this run: the quick ones, or the long ones, which quick runs leave out (bunfig.toml). */
async function runTests(): Promise<number> {
  // It ends what hangs. No quick test takes a tenth of it on a machine of its own.
  if (!isLong) return tests(['--timeout=120000', ...options])
  const paths = options.some(option => !option.startsWith('-'))
    ? []
    : ['test/long', ...ofProperties()]
  return tests(['--timeout=300000', '--path-ignore-patterns=none', ...paths, ...options], {
    CAIRN_TEST_LONG: '1',
  })
}

/** The files whose properties are tried with more examples in the long form. */
const ofProperties = () =>
  [...new Bun.Glob('test/**/*.test.ts').scanSync(root)].filter(file =>
    /support\/rounds\.ts'|conformance\/conformance\.ts'/.test(
      readFileSync(join(root, file), 'utf8'),
    ),
  )

/**
 * Runs the files of failed tests once more, each alone. A test that then passes is unsteady, which a build
 * forgives once: test/unsteady.json names those of the last build.
 *
 * @returns whether the run may pass
 */
async function forgive(failed: ReadonlyMap<string, readonly string[]>): Promise<boolean> {
  const known: string[] = await Bun.file(join(root, unsteady)).json()
  const now: string[] = []
  for (const [file, names] of failed) {
    say(`running ${file} again, alone`)
    const status = await run(['test', '--timeout=300000', '--path-ignore-patterns=none', file], {
      CAIRN_TEST_LONG: '1',
    })
    if (status !== 0) return false
    now.push(...names.map(name => `${file}: ${name}`))
  }
  for (const name of now) say(`UNSTEADY ${name}`)
  await Bun.write(join(root, unsteady), `${JSON.stringify(now, null, 2)}\n`)
  return now.every(name => !known.includes(name))
}

const started = performance.now()
for (const [found, name, guarantee] of needs) {
  if (!found) say(`not tested without ${name} (Debian: apt install ${name}): ${guarantee}`)
}
if (!isLong && !(await check())) process.exit(1)
await rm(report, { force: true })
say('testing')
let status = await runTests()
const text = existsSync(report) ? await Bun.file(report).text() : ''
const { passed, skipped, ...counts } = countsIn(text)
let { failed } = counts
if (isLong && failed > 0 && (await forgive(failedIn(text)))) failed = status = 0
if (status !== 0 && failed === 0) {
  say(`the run of the tests failed (status ${status}) outside of a test: counted as one failure`)
  failed = 1
}
if (passed === 0 && failed === 0) {
  say('no test ran')
  status = 1
}
const seconds = (performance.now() - started) / 1_000
say(`${seconds.toFixed(0)} s, ${cpuSeconds.toFixed(0)} s of CPU`)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exit(status !== 0 || failed > 0 ? 1 : 0)
