import { expect } from 'bun:test'
import { SMTPServer } from 'smtp-server'
import { until } from '../../scripts/support/until.ts'

/** A mail server that keeps what it takes. */
export class MailServer {
  /** As they came, but for the encoding of their texts (quoted-printable). */
  readonly mails: string[] = []
  private readonly server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _, done) => {
      let text = ''
      stream.on('data', chunk => {
        text += String(chunk)
      })
      stream.on('end', () => {
        const decoded = text
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
        this.mails.push(decoded)
        done()
      })
    },
  })

  /** @returns the settings with which Cairn sends through it */
  async listen(): Promise<Record<string, string>> {
    const port = await new Promise<number>(resolve => {
      const listening = this.server.listen(0, '127.0.0.1', () => {
        resolve((listening.address() as { port: number }).port)
      })
    })
    return {
      CAIRN_SMTP_URL: `smtp://127.0.0.1:${port}`,
      CAIRN_MAIL_FROM: 'Cairn <cairn@example.com>',
      CAIRN_PUBLIC_URL: 'https://cairn.example.com',
    }
  }

  /** Resolves with the mail at a place, counted from 0, once it is there. */
  async at(place: number): Promise<string> {
    await until(() => this.mails.length > place)
    return this.mails[place]!
  }

  /** The path of a link in a mail. */
  static pathIn(mail: string, action: 'confirm' | 'unsubscribe'): string {
    const [, path] =
      mail.match(new RegExp(`https?://cairn\\.example\\.com(/mail/${action}/[\\w/-]+)`)) ?? []
    expect(path).toBeDefined()
    return path!
  }

  close(): Promise<void> {
    return new Promise(resolve => this.server.close(() => resolve()))
  }
}
