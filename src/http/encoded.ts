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
import type { PreparedBody } from '../core/catalogue.ts'
import type { Call } from './call.ts'
import { jsonType, type Reply } from './reply.ts'

/** Node's types lose the options when promisified. */
type Compress<Options> = (text: string, options?: Options) => Promise<Buffer>

const compressBr: Compress<BrotliOptions> = promisify(brotliCompress)
const compressZstd: Compress<never> = promisify(zstdCompress)
const compressGzip: Compress<ZlibOptions> = promisify(gzip)

/** Each body is compressed once, so the best level that is still quick is worth its time. */
const encoders = {
  br: (text: string) => compressBr(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  zstd: (text: string) => compressZstd(text),
  gzip: (text: string) => compressGzip(text, { level: 9 }),
}

type Encoding = keyof typeof encoders | 'identity'

const preference: Encoding[] = ['br', 'zstd', 'gzip', 'identity']

/** The library's types lack its second argument, the order among what the caller likes equally. */
interface EncodingNegotiator {
  encodings(available: readonly string[], order: { preferred: readonly string[] }): string[]
}

/** Browsers send a handful of different headers, all of them short: each is negotiated once. */
const negotiated = new Map<string, Encoding>()
const mostNegotiated = 200
const longestNegotiated = 200

function encodingFor(accept: string): Encoding {
  const known = negotiated.get(accept)
  if (known) return known
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { 'accept-encoding': accept } })
  const [first] = negotiator.encodings(preference, { preferred: preference })
  const encoding = (first ?? 'identity') as Encoding
  if (accept.length > longestNegotiated) return encoding
  if (negotiated.size >= mostNegotiated) negotiated.clear()
  negotiated.set(accept, encoding)
  return encoding
}

/** Compressed forms live as long as the body that they were made from. */
const compressed = new WeakMap<PreparedBody, Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>>()

function encoded(body: PreparedBody, encoding: keyof typeof encoders) {
  const forms = compressed.get(body) ?? new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>()
  compressed.set(body, forms)
  const form =
    forms.get(encoding) ?? encoders[encoding](body.text).then(bytes => new Uint8Array(bytes))
  forms.set(encoding, form)
  // A failure is not kept: the next caller tries again.
  form.catch(() => forms.delete(encoding))
  return form
}

/** RFC 9110, section 13.1.2: any of the tags, compared weakly, or `*`. */
function isNoneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false
  return header
    .split(',')
    .map(tag => tag.trim().replace(/^W\//, ''))
    .some(tag => tag === etag || tag === '*')
}

/** A prepared JSON body, compressed as the caller likes it best, or 304 where they have it. */
export async function encodedReply(call: Call, body: PreparedBody): Promise<Reply> {
  const { headers } = call.request
  const encoding = encodingFor(headers.get('accept-encoding') ?? '')
  const etag = `"${body.hash}${encoding === 'identity' ? '' : `-${encoding}`}"`
  const replyHeaders: Record<string, string> = {
    ETag: etag,
    'Cache-Control': 'private, max-age=60',
    Vary: 'Authorization, Origin, Accept-Encoding',
  }
  if (isNoneMatch(headers.get('if-none-match'), etag)) return { status: 304, headers: replyHeaders }
  replyHeaders['Content-Type'] = jsonType
  if (encoding === 'identity') return { status: 200, body: body.text, headers: replyHeaders }
  replyHeaders['Content-Encoding'] = encoding
  return { status: 200, body: await encoded(body, encoding), headers: replyHeaders }
}
