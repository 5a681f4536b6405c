import { EncryptJWT, jwtDecrypt } from 'jose'
import { keyFor } from '../../http/dashboard-tokens.ts'

/** What the browser keeps while a person is at the provider, in a cookie that only Cairn can decrypt. */
export interface Transaction {
  issuer: string
  state: string
  nonce: string
  verifier: string
  /** Where they wanted to go. */
  to: string
}

export const transactionSeconds = 10 * 60
/** No browser keeps a longer cookie. */
const maxLength = 4_096

const algorithms = { alg: 'dir', enc: 'A256GCM' } as const
const keyOf = (serverKey: Uint8Array) => keyFor(serverKey, 'sign-in transaction')

/** Encrypts a transaction, for ten minutes. */
export const sealTransaction = (
  transaction: Transaction,
  serverKey: Uint8Array,
  now: number,
): Promise<string> =>
  new EncryptJWT({ ...transaction })
    .setProtectedHeader(algorithms)
    .setExpirationTime(Math.floor(now / 1000) + transactionSeconds)
    .encrypt(keyOf(serverKey))

/** Null if the text is not a transaction of this server, or is too old. */
export async function openTransaction(
  text: string,
  serverKey: Uint8Array,
  now: number,
): Promise<Transaction | null> {
  if (text.length > maxLength) return null
  try {
    const { payload } = await jwtDecrypt(text, keyOf(serverKey), {
      keyManagementAlgorithms: [algorithms.alg],
      contentEncryptionAlgorithms: [algorithms.enc],
      requiredClaims: ['exp'],
      currentDate: new Date(now),
    })
    return payload as unknown as Transaction
  } catch {
    return null
  }
}
