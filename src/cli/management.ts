const patienceMs = 3_000

/** Turns an address to listen on into one to connect to: any address means this machine. */
const reachable = (host: string) => {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** The URL of a path on the management port of a server on this machine. */
export const managementUrl = (host: string, port: number, path: string) =>
  `http://${reachable(host)}:${port}${path}`

/** The response; without a status, `answer` is the reason. */
export async function ask(
  url: string,
  maxCharacters = 2_000,
): Promise<{ status: number | null; answer: string }> {
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const response = await fetch(url, { signal, redirect: 'manual' })
    const answer = await response.text().catch(() => '')
    return { status: response.status, answer: answer.trim().slice(0, maxCharacters) }
  } catch (error) {
    const { name, code, message } = error as Error & { code?: string }
    const isLate = name === 'TimeoutError'
    return {
      status: null,
      answer: isLate ? `no response in ${patienceMs / 1000} s` : (code ?? message),
    }
  }
}
