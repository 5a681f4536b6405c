/** An IPv4 address as a whole number; null for any other text. */
function ipv4(text: string): number | null {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every(part => /^\d{1,3}$/.test(part))) return null
  const bytes = parts.map(Number)
  if (bytes.some(byte => byte > 255)) return null
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
}

/** The eight groups of an IPv6 address, which may end in an IPv4 address; null for any other text. */
function ipv6(text: string): number[] | null {
  const url = URL.parse(`http://[${text}]/`)
  if (url === null) return null
  // In the form of the URL Standard: no IPv4 address at the end, and at most one "::".
  const [head = '', tail] = url.hostname.slice(1, -1).split('::')
  const groupsOf = (part: string) =>
    part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16))
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')]
  const between = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array<number>(between).fill(0), ...last]
}

/** Networks that are not public: IANA's registry of special-purpose IPv4 addresses, and multicast. */
const specialIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(network => {
  const [address = '', bits = ''] = network.split('/')
  return { first: ipv4(address)!, size: 2 ** (32 - Number(bits)) }
})

const isPublicIpv4 = (address: number) =>
  !specialIpv4.some(({ first, size }) => address >= first && address < first + size)

/**
 * Whether an address is in the public network, so that nobody can use it to reach a machine near this one.
 * For IPv6 that is only global unicast, without ranges that contain an IPv4 address (mapped, NAT64, 6to4,
 * Teredo) and ranges reserved for examples and protocols. Any other text is not a public address.
 */
export function isPublicAddress(address: string): boolean {
  const v4 = ipv4(address)
  if (v4 !== null) return isPublicIpv4(v4)
  if (!address.includes(':')) return false
  const groups = ipv6(address)
  if (groups === null) return false
  const [first = 0, second = 0] = groups
  if (first < 0x2000 || first > 0x3fff) return false
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return false
  return first !== 0x2002 && !(first === 0x3fff && second < 0x1000)
}

/** The IP address in a URL's host, without brackets; null if the host is a name. */
export function addressIn({ hostname }: URL): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return ipv4(hostname) === null ? null : hostname
}

/** Names that mean this machine or its network, whatever a resolver says. */
const innerNames = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|onion)\.?$/i

/**
 * What is wrong with an address that something is to be sent to, as far as that is known without asking a
 * resolver; null if nothing is.
 *
 * @param allowsPrivate whether it may be a machine in the private network, and http
 */
export function faultOfTarget(text: string, allowsPrivate: boolean): string | null {
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
