/** Proves to your server who somebody is: hex HMAC-SHA256 of their id, keyed with your identity secret. */
export async function userHash(secret: string, userId: string): Promise<string> {
  const { subtle } = crypto
  const bytes = (text: string) => new TextEncoder().encode(text)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await subtle.importKey('raw', bytes(secret), algorithm, false, ['sign'])
  const mac = new Uint8Array(await subtle.sign('HMAC', key, bytes(userId)))
  return Array.from(mac, byte => byte.toString(16).padStart(2, '0')).join('')
}
