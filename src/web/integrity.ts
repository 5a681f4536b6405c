/** The hash that a browser checks a script against (Subresource Integrity, W3C). */
export const integrityOf = (text: string): string =>
  `sha384-${new Bun.CryptoHasher('sha384').update(text).digest('base64')}`
