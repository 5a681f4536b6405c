import { promisify } from 'node:util'
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  gzip,
  type ZlibOptions,
  zstdCompress,
} from 'node:zlib'
import Negotiator from 'negotiator'
import type { PreparedBody } from '../core/organisation/catalogue.ts'
import type { RequestContext } from './request-context.ts'
import { jsonType, type Reply } from './responder.ts'

/** A text that is compressed once for all who ask for it. */
export const prepared = (text: string): PreparedBody => ({ text, hash: hashOf(text) })

/** What an answer's `ETag` is made of. */
export const hashOf = (content: Content): string => Bun.hash.xxHash64(content).toString(36)

/** What a page of ours may load: nothing but what this server has, no script in itself, and no frame around it. */
export const pagePolicy = (...more: string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ...more,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** A body that is read when it is needed, and let go. */
export interface ReadBody {
  hash: string
  read(): Promise<Uint8Array<ArrayBuffer>>
}

/** A body that is made for one request, and so compressed in little time. */
export interface PassingBody {
  hash: string
  readonly text: string
  isPassing: true
}

type AnyBody = PreparedBody | ReadBody | PassingBody

type Content = string | Uint8Array<ArrayBuffer>

const contentOf = (body: AnyBody) => ('text' in body ? body.text : body.read())

/** Node's types lose the options when promisified. */
type Compress<Options> = (content: Content, options?: Options) => Promise<Buffer>

const compressBr: Compress<BrotliOptions> = promisify(brotliCompress)
const compressZstd: Compress<never> = promisify(zstdCompress)
const compressGzip: Compress<ZlibOptions> = promisify(gzip)

/**
 * Each body is compressed once, so the best level that is still quick is worth its time. With a window
 * of more than 64 KiB, Brotli takes 32 MB for each body that is compressed at the same moment.
 */
const brotli = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 16 }
const encoders = {
  br: (content: Content) => compressBr(content, { params: brotli }),
  zstd: (content: Content) => compressZstd(content),
  gzip: (content: Content) => compressGzip(content, { level: 9 }),
}

/** Such as take a millisecond for a hundred kilobytes. */
const quickBrotli = { ...brotli, [constants.BROTLI_PARAM_QUALITY]: 4 }
const quickEncoders: typeof encoders = {
  br: content => compressBr(content, { params: quickBrotli }),
  zstd: content => compressZstd(content),
  gzip: content => compressGzip(content, { level: 4 }),
}

type Encoding = keyof typeof encoders | 'identity'

const preference: Encoding[] = ['br', 'zstd', 'gzip', 'identity']

/** The library's types lack its second argument, the order among what the caller likes equally. */
interface EncodingNegotiator {
  encodings(available: readonly string[], order: { preferred: readonly string[] }): string[]
}

/** Browsers send a handful of different headers: each is negotiated once. */
const negotiated = new Map<string, Encoding>()
const mostNegotiated = 200

/** A longer header is nobody's, and takes milliseconds to negotiate. */
const longestNegotiated = 200

function encodingFor(accept: string): Encoding {
  if (accept.length > longestNegotiated) return 'identity'
  const known = negotiated.get(accept)
  if (known) return known
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { 'accept-encoding': accept } })
  const [first] = negotiator.encodings(preference, { preferred: preference })
  const encoding = (first ?? 'identity') as Encoding
  if (negotiated.size >= mostNegotiated) negotiated.clear()
  negotiated.set(accept, encoding)
  return encoding
}

/** A body in one encoding, as far as it has been asked for. */
interface Form {
  etag: string
  /** For who has it. */
  unchanged: Reply
  headers: Record<string, string>
  /** For who does not, once it is made. */
  whole: Reply | null
  /** Several may ask for it at first: one makes it. */
  making: Promise<Reply> | null
}

/** Forms live as long as the body that they are of. */
const forms = new WeakMap<object, Map<Encoding, Form>>()

function formOf(
  body: AnyBody,
  encoding: Encoding,
  described: Readonly<Record<string, string>>,
): Form {
  const ofBody = forms.get(body) ?? new Map<Encoding, Form>()
  const known = ofBody.get(encoding)
  if (known) return known
  const etag = `"${body.hash}${encoding === 'identity' ? '' : `-${encoding}`}"`
  const headers: Record<string, string> = { ...described, ETag: etag }
  if (encoding !== 'identity') headers['Content-Encoding'] = encoding
  const { 'Content-Type': _, 'Content-Encoding': __, ...withoutBody } = headers
  const unchanged = { status: 304, headers: withoutBody }
  const form = { etag, unchanged, headers, whole: null, making: null }
  forms.set(body, ofBody.set(encoding, form))
  return form
}

async function make(form: Form, body: AnyBody, encoding: Encoding): Promise<Reply> {
  const content = await contentOf(body)
  if (encoding !== 'identity') {
    // As a blob, which each response shares; it would have a copy of an array's bytes.
    const encode = ('isPassing' in body ? quickEncoders : encoders)[encoding]
    const encoded = new Blob([new Uint8Array(await encode(content))])
    form.whole = { status: 200, body: encoded, headers: form.headers }
    return form.whole
  }
  const whole = { status: 200, body: content, headers: form.headers }
  // What is read when it is needed is let go again.
  if ('text' in body) form.whole = whole
  return whole
}

/** A hundred tags of ours; a longer header is taken as one that names none. */
const longestMatched = 4_096

/** RFC 9110, section 13.1.2: any of the tags, compared weakly, or `*`. */
function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null || header.length > longestMatched) return false
  if (header === etag) return true
  return header
    .split(',')
    .map(tag => tag.trim().replace(/^W\//, ''))
    .some(tag => tag === etag || tag === '*')
}

/** What says how long, and for whom, an answer may be kept. */
const ofOrganisation = {
  'Content-Type': jsonType,
  'Cache-Control': 'private, max-age=60',
  Vary: 'Authorization, Origin, Accept-Encoding',
}

/**
 * The same for what is one person's, and changes with all that they do: asked for anew each time, and
 * answered by a 304 as long as nothing has changed.
 */
export const ofPerson = { ...ofOrganisation, 'Cache-Control': 'private, no-cache' }

/** JSON that is made for one request, and asked for again and again: 304 as long as it is the same. */
export function freshReply(call: RequestContext, body: object): Reply | Promise<Reply> {
  const text = JSON.stringify(body)
  return encodedReply(call, { text, hash: hashOf(text), isPassing: true }, ofPerson)
}

/** The same for what is anyone's: an upgrade of the server is seen within five minutes. */
export const ofAnyone = {
  'Cache-Control': 'public, max-age=300',
  Vary: 'Origin, Accept-Encoding',
}

/**
 * A body, compressed as the caller likes it best, or 304 where they have it. Each form of a prepared
 * one is compressed once, and then answered without waiting for anything.
 *
 * @param described the headers that say what it is and for whom, the same whenever the body is; an
 *   organisation's JSON unless given
 */
export function encodedReply(
  call: RequestContext,
  body: AnyBody,
  described: Readonly<Record<string, string>> = ofOrganisation,
): Reply | Promise<Reply> {
  const asked = call.request.headers
  const encoding = encodingFor(asked.get('accept-encoding') ?? '')
  const form = formOf(body, encoding, described)
  if (isNoneMatch(asked.get('if-none-match'), form.etag)) return form.unchanged
  if (form.whole) return form.whole
  // A failure is not kept: the next caller tries again.
  form.making ??= make(form, body, encoding).finally(() => {
    form.making = null
  })
  return form.making
}
