/**
 * The way of a request through the house: the files of `src` in which a function runs while one
 * request is answered, in the order of their first call, on all threads of a real server.
 *
 *     node_modules/.bin/bun scripts/walk.ts
 *
 * A copy of `src` notes a file's number in memory that all threads share, at the head of each function.
 * Counted is what runs for every one of several requests of a server that is warm. What a timer does is
 * not, nor what runs at a start.
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Node, SyntaxKind } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/async'

const root = resolve(import.meta.dir, '..')
const src = join(root, 'src')

/** Where the copy notes what ran: whether it is wanted, how much was noted, then a place for each file. */
const noting = (memory: string) => `
import { AsyncLocalStorage } from 'node:async_hooks'
const places = new Int32Array(Bun.mmap(${JSON.stringify(memory)}).buffer)
const timer = new AsyncLocalStorage()
for (const name of ['setInterval', 'setTimeout']) {
  const original = globalThis[name]
  globalThis[name] = (work, ...rest) => original((...args) => timer.run(true, work, ...args), ...rest)
}
export function ran(file) {
  if (places[0] === 0 || places[file] !== 0 || timer.getStore()) return true
  Atomics.compareExchange(places, file, 0, Atomics.add(places, 1, 1) + 1)
  return true
}`

/** A file's text that notes each call of a function of its own. */
function instrumented(source: Node & { text: string }, file: number, ran: string): string {
  const added: [at: number, text: string][] = []
  const visit = (node: Node): void => {
    const { body } = node as Node & { body?: Node }
    if (body && node.kind !== SyntaxKind.ModuleDeclaration) {
      const start = body.getStart(source as never)
      if (body.kind === SyntaxKind.Block) added.push([start + 1, `ran(${file});`])
      else added.push([start, `(ran(${file}), `], [body.end, ')'])
    }
    node.forEachChild(child => void visit(child))
  }
  visit(source)
  if (added.length === 0) return source.text
  let text = source.text
  // From behind, and of two at one place the inner one first: it was found last.
  for (const [at, what] of added.reverse().sort(([a], [b]) => b - a)) {
    text = text.slice(0, at) + what + text.slice(at)
  }
  return `import { ran } from ${JSON.stringify(ran)};${text}`
}

/** Copies the house so that it notes what runs; the files, each at its number less two. */
async function copyHouse(copy: string, memory: string): Promise<string[]> {
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  cpSync(src, join(copy, 'src'), { recursive: true })
  // What runs while Cairn is built, and in browsers.
  for (const part of ['web', 'manual']) {
    rmSync(join(copy, 'src', part), { recursive: true })
    symlinkSync(join(src, part), join(copy, 'src', part))
  }
  const ran = join(copy, 'ran.ts')
  writeFileSync(ran, noting(memory))
  const api = new API({ cwd: root })
  const snapshot = await api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] })
  const program = snapshot.getProjects()[0]?.program
  const files = [...new Bun.Glob('**/*.ts').scanSync(src)]
    .filter(file => !/^(web|manual)\/|\.d\.ts$/.test(file))
    .sort()
  for (const [i, file] of files.entries()) {
    const source = await program?.getSourceFile(join(src, file))
    if (!source) throw new Error(`The compiler does not know ${file}`)
    writeFileSync(join(copy, 'src', file), instrumented(source, i + 2, ran))
  }
  await api.close()
  writeFileSync(memory, new Uint8Array(4 * (files.length + 2)))
  return files
}

const flow = `key: welcome
name: Welcome
steps:
  - { key: hello, title: Hello }
  - { key: search, title: Search }
`

/** Requests before those that count, and those that do. */
const warming = 12
const counted = 6

/** The files that one `POST /events` and one `GET …/analytics` touch. */
export async function walks(): Promise<{ events: string[]; analytics: string[] }> {
  const copy = mkdtempSync(join(tmpdir(), 'cairn-walk-'))
  const memory = join(copy, 'places')
  const env = { CAIRN_DATA: join(copy, 'data') }
  const command = (...args: string[]) => [process.execPath, join(copy, 'src/main.ts'), ...args]
  const run = (...args: string[]) => Bun.$`${command(...args)}`.cwd(copy).env(env).text()
  let server: Bun.Subprocess<'ignore', 'ignore', 'pipe'> | null = null
  try {
    const files = await copyHouse(copy, memory)
    const places = new Int32Array(Bun.mmap(memory).buffer)
    writeFileSync(join(copy, 'welcome.yaml'), flow)
    const { snippetKey } = JSON.parse(await run('org', 'create', 'Harbor', '--json'))
    await run('flows', 'push', 'welcome.yaml', '--publish')
    const session = (await run('token', 'issue')).trim()
    server = Bun.spawn(command('serve', '--port', '0', '--management-port', '0'), {
      cwd: copy,
      env,
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const api = `${await addressIn(server.stderr)}/api/v1`

    const ask = async <T>(path: string, credential: string, body?: unknown): Promise<T> => {
      const method = body ? 'POST' : 'GET'
      const headers = { authorization: `Bearer ${credential}` }
      const answer = await fetch(api + path, { method, headers, body: JSON.stringify(body) })
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
      return (await answer.json()) as T
    }
    type Flows = { flows: [{ id: string; steps: [{ id: string }] }] }
    const { flows } = await ask<Flows>('/flows', snippetKey)
    const [{ id: flowId, steps }] = flows
    const batch = () => {
      const run = { flowId, userId: 'ann', runId: crypto.randomUUID() }
      const stepId = steps[0].id
      const kinds = ['flow_started', 'step_viewed', 'step_completed', 'flow_completed']
      return {
        events: kinds.map(kind => ({ kind, ...run, ...(/^step/.test(kind) && { stepId }) })),
      }
    }

    /** Two at a time: what is left to do after an answer is done by the time of the next. */
    const walk = async (request: () => Promise<unknown>) => {
      for (let i = 0; i < warming; i++) await request()
      const seen = new Map(files.map(file => [file, 0]))
      let order: string[] = []
      for (let i = 0; i < counted; i++) {
        places.fill(0)
        places[0] = 1
        await request()
        await request()
        places[0] = 0
        order = files.filter((_, at) => places[at + 2] !== 0)
        order.sort((a, b) => places[files.indexOf(a) + 2]! - places[files.indexOf(b) + 2]!)
        for (const file of order) seen.set(file, seen.get(file)! + 1)
      }
      return order.filter(file => seen.get(file) === counted)
    }
    return {
      events: await walk(() => ask('/events', snippetKey, batch())),
      analytics: await walk(() => ask(`/flows/${flowId}/analytics`, session)),
    }
  } finally {
    server?.kill('SIGKILL')
    await server?.exited
    rmSync(copy, { recursive: true })
  }
}

/** Where a server says that it serves. */
async function addressIn(output: ReadableStream): Promise<string> {
  let text = ''
  for await (const piece of output.pipeThrough(new TextDecoderStream())) {
    text += piece
    const found = /serving (http\S+),/.exec(text)
    if (found) return found[1]!
  }
  throw new Error(`The server did not start: ${text}`)
}

if (import.meta.main) {
  for (const [way, files] of Object.entries(await walks())) {
    console.log(`${way}: ${files.length} files\n${files.map(file => `  ${file}\n`).join('')}`)
  }
}
