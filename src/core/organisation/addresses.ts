import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/** IPv4 networks that are not public: IANA's registry of special-purpose addresses, and multicast. */
const specialIpv4 = networks('ipv4', [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])

/** Global unicast, the only public part of IPv6. */
const globalIpv6 = networks('ipv6', ['2000::/3'])

/** What is not public in it: protocols and Teredo, examples, 6to4. */
const specialIpv6 = networks('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

function networks(family: 'ipv4' | 'ipv6', list: readonly string[]): BlockList {
  const blocks = new BlockList()
  for (const network of list) {
    const [address = '', bits] = network.split('/')
    blocks.addSubnet(address, Number(bits), family)
  }
  return blocks
}

/**
 * Whether an address is in the public network, so that nobody can use it to reach a machine near this one. An IPv6
 * address that contains one of IPv4 (mapped, NAT64, 6to4, Teredo) is not, nor is any other text.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !specialIpv4.check(address)
  if (!isIPv6(address)) return false
  return globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
}

/** The IP address in a URL's host, without brackets; null if the host is a name. */
export function addressIn({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? null : host
}

/** Names that mean this machine or its network, whatever a resolver says. */
const innerNames = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|onion)\.?$/i

/**
 * What is wrong with an address that something is to be sent to, as far as that is known without asking a
 * resolver; null if nothing is.
 *
 * @param allowsPrivate whether it may be a machine in the private network, and http
 */
export function problemOfTarget(text: string, allowsPrivate: boolean): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return 'Must be an address such as https://hooks.example.com/cairn'
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    return 'Must have no user, password or fragment in it'
  }
  if (allowsPrivate) return null
  if (url.protocol !== 'https:') return 'Must begin with https://'
  const address = addressIn(url)
  const isInner = address === null ? innerNames.test(url.hostname) : !isPublicAddress(address)
  return isInner
    ? 'Must not be an address of this machine or of a private network: the operator may allow that by CAIRN_WEBHOOKS_PRIVATE=on'
    : null
}

const thisMachine = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * An address that keys may be fetched from: https, or http on this machine itself. Null for any other text,
 * and for an address with a user, a password or a fragment.
 */
export function secureUrl(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || url.hash !== '') return null
  if (url.username !== '' || url.password !== '') return null
  if (url.protocol === 'https:') return url
  return url.protocol === 'http:' && thisMachine.test(url.hostname) ? url : null
}

/** An address for a message, without parts that may be secret: user, password, query and fragment. */
export function shownAddress(text: string): string {
  // Removes everything up to the last @, because a password in a mistyped address may contain anything.
  return text.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, '$1…@').replace(/([?#]).+$/s, '$1…')
}
