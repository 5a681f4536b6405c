/**
 * The files that a request touches: those of `src` in which a function runs while one request is
 * answered, on all threads of a real server, in the order of their first call.
 *
 *     node_modules/.bin/bun scripts/walk.ts
 *
 * A copy of `src` notes at the head of each function, in memory that all threads share, that its file
 * has run. What counts is what runs for every request of a warm server, not what runs at a start or in a
 * timer.
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/async'
import { builtBinary, Workplace } from './support/binary.ts'

const root = resolve(import.meta.dir, '..')
const src = join(root, 'src')

/** The memory holds whether to note anything, how many files were noted, and each one's place, 0 for none. */
const noting = (memory: string) => `
import { AsyncLocalStorage } from 'node:async_hooks'
const places = new Int32Array(Bun.mmap(${JSON.stringify(memory)}).buffer)
const timer = new AsyncLocalStorage()
for (const name of ['setInterval', 'setTimeout']) {
  const original = globalThis[name]
  globalThis[name] = (work, ms) => original(() => timer.run(true, work), ms)
}
export function ran(file) {
  if (places[0] === 0 || places[file] !== 0 || timer.getStore()) return
  Atomics.compareExchange(places, file, 0, Atomics.add(places, 1, 1) + 1)
}`

/** The text of a source, changed so that its functions call `ran`. */
function instrumented(source: SourceFile, file: number, ran: string): string {
  const added: [at: number, text: string][] = []
  const visit = (node: Node): void => {
    const { body } = node as Node & { body?: Node }
    if (body?.kind === SyntaxKind.Block) added.push([body.getStart(source) + 1, `ran(${file});`])
    else if (node.kind === SyntaxKind.ArrowFunction && body) {
      added.push([body.getStart(source), `(ran(${file}), `], [body.end, ')'])
    }
    node.forEachChild(visit)
  }
  visit(source)
  let { text } = source
  for (const [at, what] of added.sort(([a], [b]) => b - a)) {
    text = text.slice(0, at) + what + text.slice(at)
  }
  return `import { ran } from ${JSON.stringify(ran)};${text}`
}

/** Copies `src` so that it notes what runs. Returns its files; each is noted at its index plus two. */
async function copySource(copy: string, memory: string): Promise<string[]> {
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  cpSync(src, join(copy, 'src'), { recursive: true })
  // Both run while Cairn is built, and what they import must stay as it is.
  for (const part of ['web', 'manual']) {
    rmSync(join(copy, 'src', part), { recursive: true })
    symlinkSync(join(src, part), join(copy, 'src', part))
  }
  const ran = join(copy, 'ran.ts')
  await Bun.write(ran, noting(memory))
  const api = new API({ cwd: root })
  const snapshot = await api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] })
  const files = [...new Bun.Glob('**/*.ts').scanSync(src)]
    .filter(file => !/^(web|sdk|manual)\/|\.d\.ts$/.test(file))
    .sort()
  for (const [i, file] of files.entries()) {
    const source = await snapshot.getProjects()[0]?.program.getSourceFile(join(src, file))
    if (!source) throw new Error(`The compiler does not know ${file}`)
    await Bun.write(join(copy, 'src', file), instrumented(source, i + 2, ran))
  }
  await api.close()
  writeFileSync(memory, new Uint8Array(4 * (files.length + 2)))
  return files
}

const flow = {
  key: 'welcome',
  name: 'Welcome',
  steps: ['hello', 'search'].map(key => ({ key, title: key })),
}
const kinds = ['flow_started', 'step_viewed', 'step_completed', 'flow_completed']

/** The files that one `POST /events` and one `GET …/analytics` touch. */
export async function walks(): Promise<{ events: string[]; analytics: string[] }> {
  const copy = mkdtempSync(join(tmpdir(), 'cairn-walk-'))
  const options = { cwd: copy, env: { CAIRN_DATA: join(copy, 'data') } }
  const command = (line: string) => [process.execPath, 'src/main.ts', ...line.split(' ')]
  const files = await copySource(copy, join(copy, 'places'))
  const places = new Int32Array(Bun.mmap(join(copy, 'places')).buffer)
  writeFileSync(join(copy, 'welcome.json'), JSON.stringify(flow))
  const place = new Workplace(builtBinary, copy)
  const { snippetKey } = await place.json(['org', 'create', 'Harbor'], options.env)
  await place.run(['flows', 'push', 'welcome.json', '--publish'], options.env)
  const { token: session } = await place.json(['token', 'issue'], options.env)
  const serve = command('serve --port 0 --management-port 0')
  const server = Bun.spawn(serve, { ...options, stderr: 'pipe' })
  try {
    let said = ''
    for await (const piece of server.stderr) {
      said += new TextDecoder().decode(piece)
      if (said.includes('serving')) break
    }
    const api = `${/serving (\S+),/.exec(said)?.[1]}/api/v1`
    const ask = async <T>(path: string, key: string, events?: unknown): Promise<T> => {
      const body = events ? { method: 'POST', body: JSON.stringify({ events }) } : {}
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(api + path, { ...body, headers })
      if (!answer.ok) throw new Error(`${path} answered ${await answer.text()}`)
      return (await answer.json()) as T
    }
    type Flows = { flows: [{ id: string; steps: [{ id: string }] }] }
    const [{ id: flowId, steps }] = (await ask<Flows>('/flows', snippetKey)).flows
    const newRun = () => {
      const run = { flowId, stepId: steps[0].id, userId: 'ann', runId: Bun.randomUUIDv7() }
      return kinds.map(kind => ({ kind, id: Bun.randomUUIDv7(), ...run }))
    }
    /** Two requests at a time, because what the first leaves to do after its answer is done with the second. */
    const walk = async (request: () => Promise<unknown>): Promise<string[]> => {
      for (let i = 0; i < 12; i++) await request()
      let touched = files
      for (let i = 0; i < 6; i++) {
        places.fill(0)
        places[0] = 1
        await request()
        await request()
        places[0] = 0
        const placeOf = (file: string) => places[files.indexOf(file) + 2] ?? 0
        touched = touched.filter(file => placeOf(file) > 0)
        touched.sort((a, b) => placeOf(a) - placeOf(b))
      }
      return touched
    }
    return {
      events: await walk(() => ask('/events', snippetKey, newRun())),
      analytics: await walk(() => ask(`/flows/${flowId}/analytics`, session)),
    }
  } finally {
    server.kill('SIGKILL')
    await server.exited
    rmSync(copy, { recursive: true })
  }
}

if (import.meta.main) {
  for (const [name, files] of Object.entries(await walks())) {
    console.log(`${name}: ${files.length} files\n  ${files.join('\n  ')}`)
  }
}
