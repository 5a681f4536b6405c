import type { Static, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import {
  AppError,
  callerGone,
  flowNotFound,
  invalid,
  maxProblems,
  type Problem,
} from '../core/errors.ts'
import type { PersonIds } from '../core/event/event.ts'
import { type FlowEntry, latestVersion } from '../core/organisation/catalogue.ts'
import { shapeProblems } from '../core/shape-problems.ts'
import { timeWords } from '../core/shapes.ts'
import { shown } from '../core/text/wording.ts'
import { parseTime } from '../core/time/clock.ts'
import { queryOf } from './request-context.ts'

/** The parameters of a query in the order in which they were sent, including names that are repeated. */
export function parametersOf(request: Request): [name: string, value: string][] {
  const query = queryOf(request)
  if (query === '') return []
  // The class takes longer than everything else here, and is needed only if something is encoded.
  if (/[%+]|^\?/.test(query)) return [...new URLSearchParams(query)]
  return query.split('&').filter(Boolean).map(parameterOf)
}

function parameterOf(part: string): [name: string, value: string] {
  const end = part.indexOf('=')
  return end < 0 ? [part, ''] : [part.slice(0, end), part.slice(end + 1)]
}

const noLists: ReadonlySet<string> = new Set()

/**
 * Parameters of a query, by name; other names are ignored.
 *
 * @param lists those of the names that may be given several times
 * @throws AppError `validation_failed` for a name that is given more than once, because the value that was
 *   meant cannot be known
 */
export function readQuery(
  request: Request,
  names: readonly string[],
  lists: ReadonlySet<string> = noLists,
): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {}
  const repeated: string[] = []
  for (const [name, value] of parametersOf(request)) {
    if (!names.includes(name)) continue
    const known = query[name]
    if (Array.isArray(known)) known.push(value)
    else if (lists.has(name)) query[name] = [value]
    else {
      if (known !== undefined) repeated.push(name)
      query[name] = value
    }
  }
  if (repeated.length > 0) {
    throw invalid(...namedTwice(names.filter(name => repeated.includes(name))))
  }
  return query
}

/** @throws AppError `validation_failed` for any name other than these */
export function requireKnown(request: Request, names: readonly string[]): void {
  const others = new Set(parametersOf(request).map(([name]) => name)).difference(new Set(names))
  if (others.size === 0) return
  throw invalid(
    ...[...others].map(
      (name): Problem => ({ path: `/${shown(name)}`, message: 'Unknown parameter' }),
    ),
  )
}

const namedTwice = (names: readonly string[]) =>
  names.map((name): Problem => ({ path: `/${name}`, message: 'Must appear only once' }))

/** A schema, compiled. */
export interface Shape<T extends TSchema> {
  fits(value: unknown): value is Static<T>
  /** Where a value does not fit the schema, each place once. */
  problemsIn(value: unknown): Problem[]
}

/**
 * Compiles a schema once it is first needed, so that no start waits for the shapes of all routes. This checks
 * shapes in place of Elysia: Elysia's error copies the caller's whole input and overflows the stack on JSON
 * that is nested deeply enough, and Elysia closes objects, so that an older server would reject what a newer
 * snippet adds.
 */
export function shapeOf<T extends TSchema>(schema: T): Shape<T> {
  let compiled: TypeCheck<T> | undefined
  const check = () => {
    compiled ??= TypeCompiler.Compile(schema)
    return compiled
  }
  return {
    fits: (value): value is Static<T> => check().Check(value),
    problemsIn(value) {
      const problems = new Map<string, Problem>()
      for (const { path, message } of shapeProblems(check().Errors(value))) {
        // Of several problems at one place the first is reported.
        if (!problems.has(path)) problems.set(path, { path, message })
        if (problems.size === maxProblems) break
      }
      return [...problems.values()]
    },
  }
}

/** @throws AppError `validation_failed`, with the wrong places, for a value that does not fit the shape */
export function requireShape(shape: Shape<TSchema>, value: unknown): void {
  if (!shape.fits(value)) throw invalid(...shape.problemsIn(value))
}

/** Text that SQLite and every reader of an export keep as it is: well-formed Unicode without NUL. */
export const isCleanText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** The person that a body or query names; a 422 if it names none, or if the name cannot be stored as it is. */
export function personIn(fields: {
  userId?: string | null
  anonymousId?: string | null
}): PersonIds {
  const ids = { userId: fields.userId ?? null, anonymousId: fields.anonymousId ?? null }
  if (ids.userId === null && ids.anonymousId === null) {
    throw invalid({ path: '/userId', message: 'Name a userId or an anonymousId' })
  }
  requireCleanText(ids)
  return ids
}

/** A 422 that names every field whose text cannot be stored as it is. */
export function requireCleanText(fields: Readonly<Record<string, unknown>>): void {
  const problems: Problem[] = []
  for (const name in fields) {
    const value = fields[name]
    if (typeof value !== 'string' || isCleanText(value)) continue
    problems.push({ path: `/${name}`, message: 'Must be well-formed Unicode without NUL' })
  }
  if (problems.length > 0) throw invalid(...problems)
}

/** A time in a body, epoch milliseconds; null if absent, a 422 if it is not a time. */
export function timeIn(fields: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = fields[name] ?? null
  if (value === null) return null
  const at = parseTime(value)
  if (at === null) {
    throw invalid({ path: `/${name}`, message: `Must be ${timeWords}` })
  }
  return at
}

/** The version that a report names, or the newest; a 422 for one that was never published. */
export function versionIn(named: number | null | undefined, flow: FlowEntry): number {
  const newest = latestVersion(flow)
  if (newest === null) throw flowNotFound()
  if (named && named > newest) {
    throw invalid({ path: '/flowVersion', message: 'This version was never published' })
  }
  return named ?? newest
}

/**
 * Cuts a thread's heavy work into slices, one in each turn of its event loop, so that quick requests are
 * answered in between. Otherwise sixty batches of events that arrive at the same moment would keep everything
 * else waiting until all of them are done.
 *
 * Work is done in the order in which it arrived. A slice is measured by something known beforehand (the
 * length of a body), because the time is known only once it is spent.
 */
export class WeightedSlices {
  private spent = 0
  private isTurning = false
  private readonly waiting: { weight: number; begin: () => void }[] = []
  private waitingSum = 0

  /** @param most weight of a slice; a heavier piece of work gets a slice of its own */
  constructor(private readonly most: number) {}

  /** The total weight of the work that waits for a slice. */
  get waitingWeight(): number {
    return this.waitingSum
  }

  /** Returns nothing if the slice has room, or a promise of the turn in which it has. */
  enter(weight: number): Promise<void> | undefined {
    if (this.waiting.length === 0 && this.hasRoom(weight)) {
      this.spend(weight)
      return
    }
    this.waitingSum += weight
    return new Promise(begin => this.waiting.push({ weight, begin }))
  }

  private hasRoom(weight: number): boolean {
    return this.spent === 0 || this.spent + weight <= this.most
  }

  private spend(weight: number): void {
    this.spent += weight
    if (this.isTurning) return
    this.isTurning = true
    // The event loop looks at its sockets before it calls this.
    setImmediate(() => this.turn())
  }

  private turn(): void {
    this.isTurning = false
    this.spent = 0
    for (let next = this.waiting[0]; next && this.hasRoom(next.weight); next = this.waiting[0]) {
      this.waiting.shift()
      this.waitingSum -= next.weight
      this.spend(next.weight)
      next.begin()
    }
  }
}

const tooLarge = (limitBytes: number) =>
  new AppError('payload_too_large', `The body is larger than ${limitBytes} bytes`)

/** Reads a body that does not state its length: at most `limitBytes`, and cancels the rest. */
async function readChunks(
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    length += value.byteLength
    if (length > limitBytes) {
      await reader.cancel()
      throw tooLarge(limitBytes)
    }
    chunks.push(value)
  }
}

/** Reads at most `limitBytes`, however the body is framed. */
function readBytes(request: Request, limitBytes: number): Promise<Uint8Array> | Uint8Array {
  const declared = request.headers.get('content-length')
  if (declared === null) {
    return request.body ? readChunks(request.body, limitBytes) : new Uint8Array()
  }
  if (Number(declared) > limitBytes) throw tooLarge(limitBytes)
  return request.bytes()
}

/** The body as it is. @throws AppError `payload_too_large` */
export async function readFile(request: Request, limitBytes: number): Promise<Uint8Array> {
  try {
    return await readBytes(request, limitBytes)
  } catch (cause) {
    // A client that goes away midway is not the server's failure, and nobody will read the response.
    throw cause instanceof AppError ? cause : callerGone(cause)
  }
}

/** The fields of a form as browsers and providers send it. @throws AppError `payload_too_large` */
export async function readForm(request: Request, limitBytes: number): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await readBytes(request, limitBytes)))
}

const isAcceptedType = (contentType: string | null) => {
  if (contentType === 'application/json') return true
  // A header without a value names no type.
  if (contentType === null || contentType.trim() === '') return true
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  return type === 'application/json' || type === 'text/plain'
}

/**
 * Bytes of bodies that are parsed, validated and passed on before other requests that wait are answered: four
 * batches of 50 events, or most of a millisecond.
 */
const parsing = new WeightedSlices(65_536)

/**
 * Bytes of bodies that may wait for their turn, in each thread: six hundred batches of 50 events. If more
 * arrives than a thread can parse, the queue would otherwise grow until memory runs out, and requests would
 * be answered after the callers have gone.
 */
const maxWaiting = 8 * 1024 ** 2

/** @throws AppError `overloaded` */
function requireTurn(): void {
  if (parsing.waitingWeight < maxWaiting) return
  throw new AppError('overloaded', 'The server is overloaded. Try again.', {
    retryAfterSeconds: 1,
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** JSON of at most this length is parsed in less than 2 ms, whatever it is. */
const quicklyParsed = 65_536
const maxLevels = 50
const maxFields = 2_000

const mark = {
  quote: 0x22,
  colon: 0x3a,
  bracket: 0x5b,
  backslash: 0x5c,
  closingBracket: 0x5d,
  brace: 0x7b,
  closingBrace: 0x7d,
} as const

/**
 * Looks through JSON before it is parsed, in a millisecond per mebibyte. To parse as much as that takes twenty
 * and more if it is nested deeply, or if one object has tens of thousands of fields.
 *
 * @throws AppError `validation_failed`
 */
function requirePlainJson(text: string): void {
  const fields: number[] = []
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case mark.quote:
        at++
        while (at < text.length && text.charCodeAt(at) !== mark.quote) {
          at += text.charCodeAt(at) === mark.backslash ? 2 : 1
        }
        break
      case mark.bracket:
      case mark.brace:
        if (fields.push(0) <= maxLevels) break
        throw invalid({ path: '', message: `Must be at most ${maxLevels} levels deep` })
      case mark.closingBracket:
      case mark.closingBrace:
        fields.pop()
        break
      case mark.colon:
        if (++fields[fields.length - 1]! <= maxFields) break
        throw invalid({ path: '', message: `No object may have more than ${maxFields} fields` })
    }
  }
}

/**
 * The body of a POST, as text and parsed.
 *
 * @param isPlain whether a large body must be as `requirePlainJson` wants it
 * @param beforeParsing called once it is this body's turn, which may be long after it was read; the caller
 *   gets whatever it throws
 * @throws AppError `payload_too_large`, `unsupported_media_type` or `malformed_json`, in this order;
 *   `overloaded`
 */
export async function readJson(
  request: Request,
  limitBytes: number,
  isPlain: boolean,
  beforeParsing: () => void,
): Promise<{ text: string; value: unknown }> {
  requireTurn()
  const bytes = await readFile(request, limitBytes)
  // A request without the header has no type; `Request` objects made from a text would claim one.
  if (!isAcceptedType(request.headers.get('content-type'))) {
    throw new AppError('unsupported_media_type', 'Send the body as application/json or text/plain')
  }
  // Many other bodies may have been read meanwhile.
  requireTurn()
  const turn = parsing.enter(bytes.byteLength)
  if (turn) await turn
  beforeParsing()
  try {
    const text = utf8.decode(bytes)
    if (isPlain && text.length > quicklyParsed) requirePlainJson(text)
    return { text, value: JSON.parse(text) }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('malformed_json', 'The body is not JSON', { cause })
  }
}
