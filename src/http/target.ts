/**
 * A request's path, without its query. Not by `URL`: it throws where the Host header is nonsense or
 * missing, and nothing here depends on the host.
 */
export function pathOf({ url }: Request): string {
  const target = url.replace(/^[a-z]+:\/\/[^/]*/i, '')
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

/** A request's query as it was sent, without its `?`. */
export function queryOf({ url }: Request): string {
  const end = url.indexOf('?')
  return end < 0 ? '' : url.slice(end + 1)
}
