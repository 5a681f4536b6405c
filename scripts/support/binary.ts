import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buckets } from '../../src/core/organisation/limits.ts'
import { type Finished, finished } from './finished.ts'
import { until } from './until.ts'

/** The compiled binary, run as its users run it: alone, in an empty folder, without the tests' environment. */

const root = join(import.meta.dir, '../..')
const binary = join(root, 'dist/cairn')

const modifiedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Builds the binary unless it is newer than every source. */
async function build(): Promise<string> {
  const sources = [...new Bun.Glob('{src,scripts}/**/*').scanSync(root), 'package.json']
  const newest = Math.max(...sources.map(source => modifiedAt(join(root, source))))
  if (modifiedAt(binary) < newest) await Bun.$`bun scripts/build.ts`.cwd(root).quiet()
  return binary
}

/** For commands that end at once: half of their CPU went into compiling code that they run a few times. */
export const briefly = { BUN_JSC_useDFGJIT: '0' }

/**
 * The environment of a test's server, which serves only for moments: starts of servers are half of what the
 * tests cost.
 */
const ofTests = process.env.NODE_ENV === 'test' ? briefly : {}

/** For a test's server under heavy load: the engine as users have it. */
export const asForUsers = { BUN_JSC_useDFGJIT: '1' }

/** The time of the tests is that of everything they start. */
const { CAIRN_TEST_NOW } = process.env
const sameTime = CAIRN_TEST_NOW ? { CAIRN_TEST_NOW } : {}

/** Variables; undefined ones are left out. */
type Environment = Record<string, string | undefined>

let built: Promise<string> | null = null

export function builtBinary(): Promise<string> {
  built ??= build()
  return built
}

/** A folder of its own, in which binaries run. */
export class Workplace {
  private readonly children = new Set<Child>()

  /**
   * @param program the executable, if it is not this machine's own
   * @param folder a new one, unless the workplace goes on with what is in one
   * @param env of everything that runs here, such as `CAIRN_DATABASE_URL`
   */
  constructor(
    private readonly program: () => Promise<string> = builtBinary,
    readonly folder = mkdtempSync(join(tmpdir(), 'cairn-process-')),
    protected readonly env: Record<string, string> = {},
  ) {}

  path(name: string): string {
    return join(this.folder, name)
  }

  get dataDir(): string {
    return this.path('cairn-data')
  }

  /** Opens the database beside a running server. After the server's end, this process would repair it. */
  reading(): Database {
    return new Database(join(this.dataDir, 'cairn.db'), { readonly: true })
  }

  /** Runs a command to its end. */
  async run(args: string[], env: Record<string, string> = {}, stdin = ''): Promise<Finished> {
    return finished(await this.command(args, env, stdin))
  }

  /** Starts a command and waits for nothing. */
  async command(args: string[], env: Record<string, string> = {}, stdin = '') {
    const child = Bun.spawn([await this.program(), ...args], {
      cwd: this.folder,
      env: { ...briefly, ...sameTime, ...this.env, ...env },
      stdin: Buffer.from(stdin),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    this.children.add(child)
    return child
  }

  /** Runs a command that prints JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at what was printed says what it is
  async json<T = any>(args: string[], env: Record<string, string> = {}): Promise<T> {
    const { status, stdout, stderr } = await this.run([...args, '--json'], env)
    if (status !== 0) throw new Error(`cairn ${args.join(' ')} failed: ${stderr}`)
    return JSON.parse(stdout) as T
  }

  /** Starts a server on free ports and waits until it says that it serves. */
  async serve(args: string[] = [], env: Environment = {}): Promise<Server> {
    for (let triesLeft = 3; ; triesLeft--) {
      const server = await this.start(args, env)
      try {
        await server.ready
        return server
      } catch (error) {
        // A port that was free when it was chosen may be a client's by now, because many tests run at once.
        if (triesLeft === 0 || !String(error).includes('EADDRINUSE')) throw error
      }
    }
  }

  /** Starts a server and waits for nothing. */
  async start(args: string[] = [], env: Environment = {}): Promise<Server> {
    const child = Bun.spawn(
      [await this.program(), 'serve', '--port', '0', '--management-port', '0', ...args],
      {
        cwd: this.folder,
        env: { ...ofTests, ...sameTime, ...this.env, ...env },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    this.children.add(child)
    return new Server(child)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async close(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL')
    await Promise.all([...this.children].map(({ exited }) => exited))
    rmSync(this.folder, { recursive: true, force: true })
  }
}

type Child = Bun.Subprocess<'ignore' | 'inherit' | Buffer, 'pipe', 'pipe'>

export class Server {
  url = ''
  managementUrl = ''
  stdout = ''
  stderr = ''
  readonly ready: Promise<void>
  /** The exit status, once everything that was printed before is here. */
  readonly ended: Promise<number>

  constructor(readonly child: Child) {
    const ready = Promise.withResolvers<void>()
    this.ready = ready.promise
    const stdout = this.collect(child.stdout, text => {
      this.stdout += text
    })
    const stderr = this.collect(child.stderr, text => {
      this.stderr += text
      const found = /serving (\S+), management at (\S+)/.exec(this.stderr)
      if (!found) return
      this.url = found[1] as string
      this.managementUrl = found[2] as string
      ready.resolve()
    })
    this.ended = Promise.all([child.exited, stdout, stderr]).then(([status]) => status)
    this.ended.then(status => ready.reject(new Error(`exited ${status}: ${this.stderr}`)))
    ready.promise.catch(() => {})
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    this.child.kill(signal)
    return this.ended
  }

  /** Waits until a condition holds; fails with what the server has logged. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    await until(condition).catch(({ message }: Error) => {
      throw new Error(`${message}: ${this.stdout}`)
    })
  }

  private async collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void) {
    const decoder = new TextDecoder()
    for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }))
  }
}

/** The value of a metric with one sample; NaN if there is none yet. */
export async function metricOf({ managementUrl }: Server, name: string): Promise<number> {
  const page = await (await fetch(`${managementUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1])
}

/** Asks the API with a credential, such as a snippet key. */
export function apiOf(server: Pick<Server, 'url'>, credential: string) {
  return async (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
}

/** A small published flow, as a file. */
export const tourFile = `key: tour
steps:
  - { key: hello, kind: modal, title: Hello }
  - { key: bye, kind: modal, title: Bye }
checklist:
  items:
    - { key: first, title: First, completeOn: { event: did_first } }
    - { key: second, title: Second }
`

/** A flow in the answer of `GET /flows`, as far as the kits look at it. */
export interface ListedFlow {
  id: string
  version: number
  name: string
  steps: { id: string }[]
}

/** The first published flow, as callers see it. */
export async function firstFlowOf(ask: ReturnType<typeof apiOf>): Promise<ListedFlow> {
  const { flows } = (await (await ask('GET', '/flows')).json()) as { flows: ListedFlow[] }
  return flows[0]!
}

/** A session token of an organisation. */
export async function sessionToken(
  place: Workplace,
  slug: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<string> {
  const issue = ['token', 'issue', '--org', slug, ...args]
  return (await place.json<{ token: string }>(issue, env)).token
}

export type Organisation = Awaited<ReturnType<typeof withTour>>

/** The same as `withTour`, with limits that no load reaches. */
export async function withUnlimitedTour(place: Workplace, name?: string) {
  const organisation = await withTour(place, name)
  const limits = Object.fromEntries(buckets.map(bucket => [bucket, 1_000_000]))
  const body = JSON.stringify({ limits })
  await place.json(['api', 'PATCH', '/settings', '--body', body, '--org', organisation.slug])
  return organisation
}

/** An organisation with one published flow, in a workplace's data directory. */
export async function withTour(place: Workplace, name = 'Acme') {
  const organisation = await place.json<{ id: string; slug: string; snippetKey: string }>([
    'org',
    'create',
    name,
  ])
  const file = `${organisation.slug}.yaml`
  await Bun.write(place.path(file), tourFile)
  const push = ['flows', 'push', file, '--publish', '--org', organisation.slug]
  const { status, stderr } = await place.run(push)
  if (status !== 0) throw new Error(`cairn ${push.join(' ')} failed: ${stderr}`)
  return organisation
}
