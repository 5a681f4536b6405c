import { isManagementToken } from '../core/organisation/access.ts'
import { shown } from '../core/text/wording.ts'
import { codeOf } from './asking.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { tell } from './output.ts'

/** What to check if a server cannot be reached, by the error's code. */
const reasons: readonly [code: RegExp, advice: string][] = [
  [
    /CERT|SELF_SIGNED|UNABLE_TO_/,
    'its certificate is not trusted: use the name in the certificate, or set NODE_EXTRA_CA_CERTS=FILE to trust your own certificate authority',
  ],
  [/^(?:EPROTO|ECONNRESET|ERR_SSL)/, 'check https:// or http://, and the port'],
  [/REFUSED/i, 'nothing listens there: check that the server is running, and the port'],
  [/NOTFOUND|EAI_AGAIN/, 'unknown host: check the name'],
  [/Timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i, 'check that it is up, and the firewall'],
]

/** An example of an address, for the help. */
export const exampleUrl = 'https://cairn.example.com'

/** The address of a server, without slashes at its end, so that a path can follow. @throws UsageFailure if it is none */
export function serverAddress(url: string): string {
  const address = URL.parse(url)
  const more = address && address.username + address.password + address.search + address.hash
  if (!address || !/^https?:$/.test(address.protocol) || more !== '') {
    throw new UsageFailure(`--url must be an address such as ${exampleUrl}, not '${shown(url)}'`)
  }
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(address.hostname)
  if (address.protocol === 'http:' && !isHere) {
    tell('warning: http:// sends CAIRN_TOKEN unencrypted: use https://')
  }
  return address.href.replace(/\/+$/, '')
}

/** The management token in a variable. @throws UsageFailure, which never shows the token */
export function tokenIn(variable: string): string {
  const token = process.env[variable]?.trim()
  if (!token) {
    throw new UsageFailure(
      `--url needs a management token in the variable ${variable}: create one on the server with "cairn token create NAME --scope flows:write"`,
    )
  }
  // Anything else in the variable is not sent to anybody.
  if (isManagementToken(token)) return token
  throw new UsageFailure(
    `${variable} is not a management token: "crn_" and 48 characters, as "cairn token create" prints it`,
  )
}

/** @throws CommandFailure if there is no server, with what to do */
export async function fetchElsewhere(
  root: string,
  path: string,
  init: RequestInit,
): Promise<Response> {
  let response: Response
  try {
    response = await fetch(root + path, { ...init, redirect: 'manual' })
  } catch (error) {
    const code = codeOf(error)
    const advice = reasons.find(([known]) => known.test(code))?.[1] ?? 'check --url'
    throw new CommandFailure(`${root} cannot be reached (${code}): ${advice}`)
  }
  if (response.status < 300 || response.status >= 400) return response
  // The token is only for the server that was named.
  const location = response.headers.get('location')
  const to = location === null ? 'another address' : shown(URL.parse(location, root)?.origin ?? '')
  throw new CommandFailure(
    `${root} redirects to ${to}, where the token is not sent: set --url to the final address`,
  )
}
