/** What a request asks for. */
export interface Target {
  path: string
  query: URLSearchParams
}

/**
 * Takes a request's address apart. Not by `URL`: it throws where the Host header is nonsense or
 * missing, and nothing here depends on the host.
 */
export function targetOf({ url }: Request): Target {
  const target = url.replace(/^[a-z]+:\/\/[^/]*/i, '')
  const end = target.indexOf('?')
  if (end < 0) return { path: target, query: new URLSearchParams() }
  return { path: target.slice(0, end), query: new URLSearchParams(target.slice(end + 1)) }
}

/** The query of a request alone, which is asked for more often than its path. */
export function queryOf({ url }: Request): URLSearchParams {
  const end = url.indexOf('?')
  return new URLSearchParams(end < 0 ? '' : url.slice(end + 1))
}
