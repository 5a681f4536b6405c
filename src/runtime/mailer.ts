import type { Transporter } from 'nodemailer'
import type { Mail, Sent } from '../app.ts'
import type { Config } from '../config/settings.ts'

/** How long a mail server has for each of its responses, milliseconds. */
const timeoutMs = 10_000

/** Sends mail through the configured server; null if there is none. */
export function mailerOf({
  smtpUrl,
  mailFrom,
}: Pick<Config, 'smtpUrl' | 'mailFrom'>): ((mail: Mail) => Promise<Sent>) | null {
  if (smtpUrl === null) return null
  let transport: Transporter | null = null
  return async ({ to, subject, text, id, unsubscribe }) => {
    // Loaded on first use, because few servers ever send mail.
    const { createTransport } = await import('nodemailer')
    transport ??= createTransport({
      url: smtpUrl,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    const from = mailFrom ?? 'cairn@localhost'
    const domain = from.replace(/^.*@/, '').replace(/>.*$/, '')
    try {
      await transport.sendMail({
        from,
        to,
        subject,
        text,
        messageId: `<${id}@${domain}>`,
        headers: {
          // Keeps automatic replies away (RFC 3834).
          'Auto-Submitted': 'auto-generated',
          ...(unsubscribe !== undefined && {
            // Mail programs unsubscribe with one click (RFC 8058).
            'List-Unsubscribe': `<${unsubscribe}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
        },
      })
      return { status: 250 }
    } catch (error) {
      const { code = 'unknown', responseCode } = error as { code?: string; responseCode?: number }
      const reason = responseCode === undefined ? code : `${code}, ${responseCode}`
      const isFinal = responseCode !== undefined && responseCode >= 550 && responseCode < 560
      return { fault: `The mail server rejected it (${reason})`, isFinal }
    }
  }
}
