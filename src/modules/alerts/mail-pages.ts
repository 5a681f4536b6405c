import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Reply } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { type Linked, type MailAction, mailActions } from './consent.ts'
import { escaped } from './report.ts'
import type { Alerts } from './service.ts'

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 12vh auto; padding: 0 1rem; overflow-wrap: anywhere }
button { font: inherit; padding: .5rem 1rem }`

/** No scripts, so the page works wherever a mail is read. */
const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Its address is what lets somebody confirm.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
}

/** @param button of a form; programs that open links of mails only to check them do not press it */
function page(status: number, title: string, text: string, button?: string): Reply {
  const form = button ? `<form method="post"><button>${button}</button></form>` : ''
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${style}</style></head>
<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p>${form}</main></body>
</html>
`
  return { status, body, headers }
}

const invalidLink = (action: MailAction) =>
  page(
    404,
    'Link invalid or expired',
    action === 'confirm'
      ? 'It is incomplete, over 7 days old, or replaced by a newer email. Ask the person who set up the report to send another.'
      : 'It is incomplete, or this address no longer gets the report. Use the link in the newest report.',
  )

function pageOf({ name }: Organisation, action: MailAction, linked: Linked | null): Reply {
  if (linked === null) return invalidLink(action)
  const { mail, consent } = linked
  if (action === 'confirm') {
    return consent.state === 'confirmed'
      ? page(200, 'Confirmed', `${mail} gets weekly reports of ${name}.`)
      : page(200, `Weekly reports of ${name}`, `Confirm to receive them at ${mail}.`, 'Confirm')
  }
  return consent.state === 'unsubscribed'
    ? page(200, 'Unsubscribed', `${mail} no longer gets reports of ${name}.`)
    : page(200, `Weekly reports of ${name}`, `Sent to ${mail}.`, 'Unsubscribe')
}

const mailed = {
  tag: 'Management',
  caller: 'anyone',
  isProductFile: true,
  readers: 'no page',
  responses: {
    200: { description: 'The page.', schema: Type.String(), example: '', type: 'text/html' },
  },
} as const

/** The pages behind the links in mails. POST works without a page too, as RFC 8058 asks. */
export function mailRoutes({
  alerts,
  stores,
}: {
  alerts: Alerts
  stores: Pick<GateStores, 'catalogue'>
}): Route[] {
  return mailActions.flatMap(action => {
    const path = `/mail/${action}/:organisation/:token`
    const reply = async (
      call: RequestContext,
      linked: (organisation: Organisation, token: string) => Promise<Linked | null>,
    ) => {
      const { organisation: id = '', token = '' } = call.params
      const organisation = stores.catalogue().organisationByName(id)
      return organisation === null
        ? invalidLink(action)
        : pageOf(organisation, action, await linked(organisation, token))
    }
    return [
      route({
        ...mailed,
        method: 'GET',
        path,
        operation: `${action}Page`,
        summary: `The page of a link to ${action}`,
        handle: call =>
          reply(call, (organisation, token) => alerts.linked(organisation, action, token)),
      }),
      route({
        ...mailed,
        method: 'POST',
        path,
        operation: action,
        summary: `Follow a link to ${action}`,
        handle: call =>
          reply(call, (organisation, token) =>
            alerts.follow(organisation, action, token, call.requestId),
          ),
      }),
    ]
  })
}
