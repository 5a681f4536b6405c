import { describe, expect, test } from 'bun:test'
import { isPublicAddress, problemOfTarget } from '../../../src/core/organisation/addresses.ts'

describe('an address is rejected that is', () => {
  test.each([
    ['this network', '0.0.0.0'],
    ['private', '10.255.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['shared (CGNAT)', '100.64.0.1'],
    ['shared (CGNAT)', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['link-local, with the metadata of clouds', '169.254.169.254'],
    ['for tests', '198.18.0.1'],
    ['for examples', '203.0.113.9'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['link-local', 'fe80::1'],
    ['unique local', 'fd00::1'],
    ['multicast', 'ff02::1'],
    ['IPv4-mapped', '::ffff:10.0.0.1'],
    ['IPv4-mapped, of a public one', '::ffff:8.8.8.8'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:7f00:1::'],
    ['for examples', '2001:db8::1'],
    ['of a zone', 'fe80::1%eth0'],
    ['no address', 'localhost'],
    ['no address', ''],
    ['no address', '1.2.3'],
    ['no address', '1.2.3.256'],
  ])('%s: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

test.each(['8.8.8.8', '172.15.0.1', '172.32.0.1', '100.63.0.1', '2606:4700::1111', '2a00:1450::1'])(
  'a public one is not: %s',
  address => {
    expect(isPublicAddress(address)).toBe(true)
  },
)

test.each([
  'https://127.0.0.1/',
  // Other forms that the URL Standard reads as the same address.
  'https://2130706433/',
  'https://0x7f.1/',
  'https://017700000001/',
  'https://[::ffff:7f00:1]/',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://db.internal/',
  'https://printer.local/',
  'http://example.com/',
  'ftp://example.com/',
  'https://user@example.com/',
  'https://user:word@example.com/',
  'https://example.com/#x',
  'example.com',
  '',
])('nothing is sent to %s', url => {
  expect(problemOfTarget(url, false)).not.toBeNull()
})

test('what the operator has allowed may be in the private network, and by http', () => {
  expect(problemOfTarget('https://hooks.example.com/cairn?x=1', false)).toBeNull()
  expect(problemOfTarget('http://127.0.0.1:8080/', true)).toBeNull()
  expect(problemOfTarget('file:///etc/passwd', true)).not.toBeNull()
})
