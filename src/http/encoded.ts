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

/** A text that is compressed once for all callers. */
export const prepared = (text: string): PreparedBody => ({ text, hash: hashOf(text) })

/** The hash from which a response's `ETag` is made. */
export const hashOf = (content: Content): string => Bun.hash.xxHash64(content).toString(36)

/**
 * The content security policy of Cairn's own pages: they load only from this server, hold no inline scripts
 * and cannot be framed.
 */
export const pagePolicy = (...more: string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    ...more,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** A body that is read when it is needed and not kept. */
export interface ReadBody {
  hash: string
  read(): Promise<Uint8Array<ArrayBuffer>>
}

/** A body that is made for one request, so it has to be compressed quickly. */
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
 * Each body is compressed once, so the best level that is still quick is worth its time. With a window of
 * more than 64 KiB, Brotli takes 32 MB for each body that is being compressed at the same time.
 */
const brotli = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 16 }
const encoders = {
  br: (content: Content) => compressBr(content, { params: brotli }),
  zstd: (content: Content) => compressZstd(content),
  gzip: (content: Content) => compressGzip(content, { level: 9 }),
}

/** Levels that take a millisecond per hundred kilobytes. */
const quickBrotli = { ...brotli, [constants.BROTLI_PARAM_QUALITY]: 4 }
const quickEncoders: typeof encoders = {
  br: content => compressBr(content, { params: quickBrotli }),
  zstd: content => compressZstd(content),
  gzip: content => compressGzip(content, { level: 4 }),
}

type Encoding = keyof typeof encoders | 'identity'

const preference: Encoding[] = ['br', 'zstd', 'gzip', 'identity']

/** The library's types lack its second argument: the order among encodings that the caller likes equally. */
interface EncodingNegotiator {
  encodings(available: readonly string[], order: { preferred: readonly string[] }): string[]
}

/** Browsers send only a handful of different headers, so each is negotiated once. */
const negotiated = new Map<string, Encoding>()
const maxNegotiated = 200

/** No real client sends a longer header, and it would take milliseconds to negotiate. */
const maxNegotiatedLength = 200

function encodingFor(accept: string): Encoding {
  if (accept.length > maxNegotiatedLength) return 'identity'
  const known = negotiated.get(accept)
  if (known) return known
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { 'accept-encoding': accept } })
  const [first] = negotiator.encodings(preference, { preferred: preference })
  const encoding = (first ?? 'identity') as Encoding
  if (negotiated.size >= maxNegotiated) negotiated.clear()
  negotiated.set(accept, encoding)
  return encoding
}

/** A body in one encoding, made when it is first needed. */
interface Form {
  etag: string
  /** The response for callers that have it already. */
  notModified: Reply
  headers: Record<string, string>
  /** The response for callers that do not, once it is made. */
  reply: Reply | null
  /** Several callers may ask before it is made: one of them makes it. */
  making: Promise<Reply> | null
}

/** Forms live as long as their body. */
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
  const notModified = { status: 304, headers: withoutBody }
  const form = { etag, notModified, headers, reply: null, making: null }
  forms.set(body, ofBody.set(encoding, form))
  return form
}

async function make(form: Form, body: AnyBody, encoding: Encoding): Promise<Reply> {
  const content = await contentOf(body)
  if (encoding !== 'identity') {
    // As a blob, which all responses share; each would get its own copy of an array's bytes.
    const encode = ('isPassing' in body ? quickEncoders : encoders)[encoding]
    const encoded = new Blob([new Uint8Array(await encode(content))])
    form.reply = { status: 200, body: encoded, headers: form.headers }
    return form.reply
  }
  const whole = { status: 200, body: content, headers: form.headers }
  // A body that is read when it is needed is not kept.
  if ('text' in body) form.reply = whole
  return whole
}

/** Room for a hundred of Cairn's tags. A longer header counts as one that names none. */
const maxMatchedLength = 4_096

/** RFC 9110, section 13.1.2: any of the tags (weak comparison), or `*`. */
function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null || header.length > maxMatchedLength) return false
  if (header === etag) return true
  return header
    .split(',')
    .map(tag => tag.trim().replace(/^W\//, ''))
    .some(tag => tag === etag || tag === '*')
}

/** The headers that say how long, and for whom, a response may be cached. */
const ofOrganisation = {
  'Content-Type': jsonType,
  'Cache-Control': 'private, max-age=60',
  Vary: 'Authorization, Origin, Accept-Encoding',
}

/**
 * The same for one person's data, which changes with everything they do: callers ask again each time, and get
 * a 304 as long as nothing has changed.
 */
export const ofPerson = { ...ofOrganisation, 'Cache-Control': 'private, no-cache' }

/** JSON that is made for each request and requested again and again: a 304 as long as it stays the same. */
export function freshReply(call: RequestContext, body: object): Reply | Promise<Reply> {
  const text = JSON.stringify(body)
  return encodedReply(call, { text, hash: hashOf(text), isPassing: true }, ofPerson)
}

/** The same for public content: an upgrade of the server is seen within five minutes. */
export const ofAnyone = {
  'Cache-Control': 'public, max-age=300',
  Vary: 'Origin, Accept-Encoding',
}

/**
 * A body in the encoding that the caller likes best, or a 304 if they already have it. Each form of a
 * prepared body is compressed once, and after that answered without waiting for anything.
 *
 * @param described the headers that say what the body is and for whom, always the same for the same body;
 *   those of an organisation's JSON unless given
 */
export function encodedReply(
  call: RequestContext,
  body: AnyBody,
  described: Readonly<Record<string, string>> = ofOrganisation,
): Reply | Promise<Reply> {
  const requestHeaders = call.request.headers
  const encoding = encodingFor(requestHeaders.get('accept-encoding') ?? '')
  const form = formOf(body, encoding, described)
  if (isNoneMatch(requestHeaders.get('if-none-match'), form.etag)) return form.notModified
  if (form.reply) return form.reply
  // A failure is not kept: the next caller tries again.
  form.making ??= make(form, body, encoding).finally(() => {
    form.making = null
  })
  return form.making
}
