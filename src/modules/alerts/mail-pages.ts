import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { RequestContext } from '../../http/request-context.ts'
import type { Reply } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import type { Recipient } from '../../storage/interfaces/alerts.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { type MailAction, mailActions } from './mail-links.ts'
import { type AlertDeps, followLink, linkedRecipient } from './service.ts'

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
  // The page's address is what lets its reader confirm.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
}

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

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

const invalidLink = page(
  404,
  'Link invalid or expired',
  'The link is incomplete or too old, or this address was removed from the report. Use the link in the newest email.',
)

function pageOf(
  name: string,
  action: MailAction,
  { mail, state }: Recipient,
  isFollowed: boolean,
): Reply {
  if (action === 'unsubscribe') {
    return isFollowed
      ? page(200, 'Unsubscribed', `${mail} no longer gets reports of ${name}.`)
      : page(200, `Weekly reports of ${name}`, `Sent to ${mail}.`, 'Unsubscribe')
  }
  return isFollowed || state === 'confirmed'
    ? page(200, 'Confirmed', `${mail} gets weekly reports of ${name}.`)
    : page(200, `Weekly reports of ${name}`, `Confirm to receive them at ${mail}.`, 'Confirm')
}

const common = {
  tag: 'Management',
  caller: 'anyone',
  isProductFile: true,
  readers: 'no page',
  responses: {
    200: { description: 'The page.', schema: Type.String(), example: '', type: 'text/html' },
  },
} as const

/** The pages behind the links in mails. POST works without a page too, as RFC 8058 requires. */
export function mailRoutes(deps: AlertDeps & { stores: Pick<GateStores, 'catalogue'> }): Route[] {
  return mailActions.flatMap(action => {
    const path = `/mail/${action}/:organisation/:token`
    const replyTo = async (call: RequestContext, isFollowed: boolean) => {
      const { organisation: id = '', token = '' } = call.params
      const organisation = deps.stores.catalogue().organisationByName(id)
      if (organisation === null) return invalidLink
      const recipient = isFollowed
        ? await followLink(deps, organisation, action, token, call.requestId)
        : await linkedRecipient(deps, organisation, action, token)
      return recipient === null
        ? invalidLink
        : pageOf(organisation.name, action, recipient, isFollowed)
    }
    return [
      route({
        ...common,
        method: 'GET',
        path,
        operation: `${action}Page`,
        summary: `The page of a link to ${action}`,
        handle: call => replyTo(call, false),
      }),
      route({
        ...common,
        method: 'POST',
        path,
        operation: action,
        summary: `Follow a link to ${action}`,
        handle: call => replyTo(call, true),
      }),
    ]
  })
}
