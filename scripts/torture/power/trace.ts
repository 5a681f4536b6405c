import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** What traces of system calls (strace's text) say about the files below one directory. */

/** What a process did that a power cut may undo, or after which it may not undo something. */
export type Step =
  | { type: 'write'; path: string; at: number | 'end'; bytes: Buffer }
  | { type: 'resize'; path: string; size: number }
  | { type: 'create' | 'mkdir' | 'unlink'; path: string }
  | { type: 'rename' | 'link'; from: string; to: string }
  /** Everything done to a file or in a directory before the sync begins is on the disk when it ends. */
  | { type: 'sync_begins' | 'sync_ends'; path: string; thread: string }
  /** Sent to somebody else: over a socket or a pipe. */
  | { type: 'output'; text: string }

/** The calls that must be traced; `?` marks those that not every processor has. */
export const tracedCalls = [
  '?open,openat,?creat,?mkdir,mkdirat,?rename,renameat,?renameat2,?link,linkat,?unlink,unlinkat',
  'truncate,ftruncate,fallocate,write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg',
  'fsync,fdatasync,sync_file_range,copy_file_range,sendfile,mmap,io_uring_setup',
].join(',')

/** One whole call. In the trace, another thread's may come between its beginning and its end. */
interface Call {
  thread: string
  name: string
  args: string
  result: string
}

const decoded = (hex: string) => Buffer.from(hex.replaceAll('\\x', ''), 'hex')

const strings = /"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g

/** The texts among a call's arguments. */
function textsIn({ name, args }: Call): Buffer[] {
  return [...args.matchAll(strings)].map(([, hex = '', cut]) => {
    if (cut !== undefined) throw new Error(`The trace has cut a text of ${name}`)
    return decoded(hex)
  })
}

/** A file descriptor and its current path; null if it has no name. */
function descriptorIn(text: string): { number: number; path: string | null } {
  const [, number, hex, deleted] = /^(\d+)<((?:\\x[0-9a-f]{2})+)>(\(deleted\))?/.exec(text) ?? []
  const isNamed = hex !== undefined && deleted === undefined
  return { number: Number(number), path: isNamed ? decoded(hex).toString() : null }
}

/** What was done to the files below a directory, and when, in seconds. */
export interface Steps {
  steps: Step[]
  times: number[]
}

/** Reads the steps from a trace, only for the files below `root`. */
class TraceReader implements Steps {
  readonly steps: Step[] = []
  readonly times: number[] = []
  private now = 0
  private readonly begun = new Map<string, { name: string; args: string }>()
  /** Where the next plain write to a descriptor goes. */
  private readonly offsets = new Map<string, number | 'end'>()
  private readonly files = new Set<string>()

  constructor(private readonly root: string) {}

  take(line: string, at: number): void {
    this.now = at
    const [, thread = '', rest = ''] = /^(\d+) +[\d.]+ (.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)
    if (resumed) {
      const { name = '', args = '' } = this.begun.get(thread) ?? {}
      this.begun.delete(thread)
      this.ends(thread, name, args + resumed[1])
      return
    }
    const paren = rest.indexOf('(')
    if (!/^\w+\(/.test(rest)) return
    const name = rest.slice(0, paren)
    const args = rest.slice(paren + 1)
    this.begins(thread, name, args)
    if (args.endsWith(' <unfinished ...>')) {
      this.begun.set(thread, { name, args: args.slice(0, -' <unfinished ...>'.length) })
    } else this.ends(thread, name, args)
  }

  private add(step: Step): void {
    this.steps.push(step)
    this.times.push(this.now)
  }

  /** Calls that count from their beginning, because whoever receives something may know it from then on. */
  private begins(thread: string, name: string, args: string): void {
    if (name === 'fsync' || name === 'fdatasync') {
      const path = this.ours(descriptorIn(args).path)
      if (path !== null) this.add({ type: 'sync_begins', path, thread })
    } else if (/^(write|writev|sendto|sendmsg)$/.test(name)) {
      if (this.ours(descriptorIn(args).path) !== null) return
      const whole = args.replace(/ <unfinished \.\.\.>$/, '')
      const texts = textsIn({ thread, name, args: whole, result: '' })
      this.add({ type: 'output', text: Buffer.concat(texts).toString('latin1') })
    }
  }

  private ends(thread: string, name: string, text: string): void {
    const equals = text.lastIndexOf(') ')
    const result = /^\) += (.*)$/.exec(text.slice(equals))?.[1] ?? '?'
    if (/^(-1|\?)/.test(result)) return
    this.done({ thread, name, args: text.slice(0, equals), result })
  }

  private done(call: Call): void {
    const { name, args, thread } = call
    if (/^(open|openat|creat)$/.test(name)) this.opened(call)
    else if (/^(write|pwrite64)$/.test(name)) this.written(call)
    else if (/^(sendto|sendmsg)$/.test(name)) return
    else if (/^(ftruncate|fsync|fdatasync)$/.test(name)) {
      const path = this.ours(descriptorIn(args).path)
      if (path === null || isVolatile(path)) return
      if (name === 'ftruncate') {
        this.add({ type: 'resize', path, size: Number(/(\d+)$/.exec(args)?.[1]) })
      } else this.add({ type: 'sync_ends', path, thread })
    } else this.named(call)
  }

  private opened({ args, result }: Call): void {
    const { number, path: found } = descriptorIn(result)
    const path = this.ours(found)
    if (path === null || isVolatile(path)) return
    this.offsets.set(`${number} ${path}`, args.includes('O_APPEND') ? 'end' : 0)
    if (args.includes('O_CREAT') && !this.files.has(path)) {
      this.files.add(path)
      this.add({ type: 'create', path })
    } else if (args.includes('O_TRUNC')) this.add({ type: 'resize', path, size: 0 })
  }

  private written(call: Call): void {
    const { number, path: found } = descriptorIn(call.args)
    const path = this.ours(found)
    if (path === null || isVolatile(path)) return
    const [text = Buffer.alloc(0)] = textsIn(call)
    const bytes = text.subarray(0, Number(call.result))
    const descriptor = `${number} ${path}`
    const given = call.name === 'pwrite64' ? Number(/(\d+)$/.exec(call.args)?.[1]) : null
    const at = given ?? this.offsets.get(descriptor) ?? 0
    if (given === null && at !== 'end') this.offsets.set(descriptor, at + bytes.length)
    this.add({ type: 'write', path, at, bytes })
  }

  /** Calls that name paths, and calls that this reader would not understand if they were about these files. */
  private named(call: Call): void {
    const { name, args } = call
    const paths = /^(mkdir|rename|link|unlink)/.test(name)
      ? textsIn(call).map(text => this.ours(resolve(this.root, text.toString())))
      : []
    const [from, to] = paths
    if (paths.length > 0 && paths.every(path => path === null)) return
    if (from && name.startsWith('mkdir')) this.add({ type: 'mkdir', path: from })
    else if (from && name.startsWith('unlink')) {
      if (isVolatile(from)) return
      this.files.delete(from)
      this.add({ type: 'unlink', path: from })
    } else if (from && to && dirname(from) === dirname(to)) {
      const type = name.startsWith('rename') ? 'rename' : 'link'
      if (type === 'rename') this.files.delete(from)
      this.files.add(to)
      this.add({ type, from, to })
    } else if (name === 'mmap') {
      if (!/MAP_SHARED/.test(args) || !/PROT_WRITE/.test(args)) return
      const path = this.ours(descriptorIn(/\d+<[^>]*>.*$/.exec(args)?.[0] ?? '').path)
      if (path !== null && !isVolatile(path)) this.unknown(call)
    } else if (paths.length > 0 || this.ours(descriptorIn(args).path) !== null) this.unknown(call)
  }

  private unknown({ name, args }: Call): never {
    const shown = args.replaceAll('\\x', '').slice(0, 200)
    throw new Error(`The recorder does not know what ${name} did: ${shown}`)
  }

  private ours(path: string | null): string | null {
    return path?.startsWith(`${this.root}/`) || path === this.root ? path : null
  }
}

/** SQLite's index of the log is shared memory with a name, and is rebuilt from the log. */
const isVolatile = (path: string) => path.endsWith('-shm')

/** The steps of all processes in some traces, in the order in which they took effect. */
export function stepsIn(traceFiles: readonly string[], root: string): Steps {
  const reader = new TraceReader(root)
  const lines = traceFiles.flatMap(file => readFileSync(file, 'latin1').split('\n'))
  // Each line has its time after the number of its thread.
  const timed = lines.map(line => ({ line, at: Number(/^\d+ +([\d.]+)/.exec(line)?.[1] ?? 0) }))
  for (const { line, at } of timed.sort((a, b) => a.at - b.at)) reader.take(line, at)
  return reader
}
