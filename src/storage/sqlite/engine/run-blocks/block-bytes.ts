import type { RunColumns } from '../../../interfaces/analytics.ts'

/**
 * Columns as bytes: the length of a heading, the heading as JSON, then the arrays of numbers one after the
 * other, each where eight bytes begin, so that it is read in place. In the heading stand their types, places
 * and lengths. Little-endian, like every machine that this program runs on.
 */
const types = [Uint8Array, Uint16Array, Uint32Array, Float64Array] as const
type Numbers = InstanceType<(typeof types)[number]>

const headingAt = 4

const aligned = (at: number) => Math.ceil(at / 8) * 8

export function encodeBlock(columns: RunColumns): Uint8Array {
  const parts: Numbers[] = []
  let size = 0
  const heading = JSON.stringify(columns, (_, value) => {
    const type = types.findIndex(type => value instanceof type)
    if (type < 0) return value
    const at = size
    parts.push(value)
    size = aligned(at + value.byteLength)
    return { type, at, length: value.length }
  })
  const text = new TextEncoder().encode(heading)
  let at = aligned(headingAt + text.length)
  const bytes = new Uint8Array(at + size)
  new Uint32Array(bytes.buffer, 0, 1)[0] = text.length
  bytes.set(text, headingAt)
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at = aligned(at + byteLength)
  }
  return bytes
}

/** The columns in a block's bytes, without copying them. */
export function decodeBlock(given: Uint8Array): RunColumns {
  const { buffer, byteOffset } = given.byteOffset % 8 === 0 ? given : given.slice()
  const length = new Uint32Array(buffer, byteOffset, 1)[0]!
  const text = new Uint8Array(buffer, byteOffset + headingAt, length)
  const start = byteOffset + aligned(headingAt + length)
  return JSON.parse(new TextDecoder().decode(text), (_, value) =>
    value?.type === undefined
      ? value
      : new types[value.type as 0](buffer as ArrayBuffer, start + value.at, value.length),
  )
}
