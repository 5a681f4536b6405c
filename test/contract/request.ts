import { parse } from 'yaml'
import type { Row } from './document.ts'
import type { Sent } from './exchange.ts'
import { fill } from './names.ts'

const prefix = '/api/v1'

/** A value in the YAML flow form of the rows, such as `{userId: ann, items: []}`. */
export const valueIn = (text: string): unknown => parse(text, { schema: 'core' })

/** Spaces after a JSON body change nothing but its length. */
const padded = (body: Buffer | null, length: number) =>
  Buffer.from((body ?? '').toString().padEnd(length, ' '))

/** A row as the request that it asks for. */
export function requestOf(
  row: Pick<Row, 'method' | 'target' | 'input'>,
  callerSends: readonly string[],
  names: ReadonlyMap<string, string>,
  ofRow: (name: string) => string | undefined,
): Sent {
  const headers: [string, string][] = []
  const query: string[] = []
  let body: Buffer | null = null
  let isChunked = false
  for (const span of [...callerSends, ...row.input]) {
    const part = fill(span, names, ofRow)
    const [, name, value = ''] = /^(-[A-Z][\w-]*|[A-Z][\w-]*(?=:)):?(?: (.*))?$/s.exec(part) ?? []
    const [, length] = /^padded to (\d+)$/.exec(part) ?? []
    if (part === 'chunked') isChunked = true
    else if (length !== undefined) body = padded(body, Number(length))
    else if (part.startsWith('?')) query.push(part.slice(1))
    else if (/^text( |$)/.test(part)) body = Buffer.from(part.slice('text '.length))
    else if (part.startsWith('bytes ')) body = Buffer.from(part.replace(/bytes| /g, ''), 'hex')
    else if (name !== undefined) headers.push([name, value])
    else body = Buffer.from(JSON.stringify(valueIn(part)))
  }
  const named = headers.some(([name]) => /^-?content-type$/i.test(name))
  if (body && !named) headers.push(['Content-Type', 'application/json'])
  const filled = fill(row.target, names, ofRow)
  const target = filled.startsWith('//') ? filled.slice(1) : prefix + filled
  const more = query.length > 0 ? (target.includes('?') ? '&' : '?') + query.join('&') : ''
  return {
    method: row.method,
    target: target + more,
    headers: headers.filter(([name]) => !name.startsWith('-')),
    body,
    isChunked,
  }
}
