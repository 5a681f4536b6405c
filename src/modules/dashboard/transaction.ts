import { EncryptJWT, jwtDecrypt } from 'jose'
import type { Clock } from '../../core/time/clock.ts'
import { keyFor } from '../../http/dashboard-tokens.ts'

/** What the browser keeps while somebody is at the provider, in a cookie that only Cairn can decrypt. */
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
const longest = 4_096

const algorithms = { alg: 'dir', enc: 'A256GCM' } as const

/** Encodes transactions as texts that are encrypted and valid for ten minutes. */
export class Transactions {
  constructor(
    private readonly serverKey: () => Uint8Array,
    private readonly clock: Clock,
  ) {}

  private get key(): Uint8Array {
    return keyFor(this.serverKey(), 'sign-in transaction')
  }

  seal(transaction: Transaction): Promise<string> {
    return new EncryptJWT({ ...transaction })
      .setProtectedHeader(algorithms)
      .setExpirationTime(Math.floor(this.clock.now() / 1000) + transactionSeconds)
      .encrypt(this.key)
  }

  /** Null if the text is not one of these, or is too old. */
  async open(text: string): Promise<Transaction | null> {
    if (text.length > longest) return null
    try {
      const { payload } = await jwtDecrypt(text, this.key, {
        keyManagementAlgorithms: [algorithms.alg],
        contentEncryptionAlgorithms: [algorithms.enc],
        requiredClaims: ['exp'],
        currentDate: new Date(this.clock.now()),
      })
      return payload as unknown as Transaction
    } catch {
      return null
    }
  }
}
