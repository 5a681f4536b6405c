import { Type } from '@sinclair/typebox'
import type { RequestContext } from '../../http/request-context.ts'
import type { Reply } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { mailActions } from './mail.ts'
import { type AlertDeps, followLink, linkedRecipient } from './service.ts'

/** No scripts, so the pages work wherever a mail is read. */
const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  // The page's address is what lets its reader confirm.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
}

/** @param button of a form; programs that open links of mails only to check them do not press it */
function page(title: string, text: string, button?: string, status = 200): Reply {
  const heading = Bun.escapeHTML(title)
  const form = button ? `<form method="post"><button>${button}</button></form>` : ''
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${heading}</title><link rel="stylesheet" href="../../../docs/brand.css"><link rel="stylesheet" href="../../../docs/manual.css"></head>
<body class="alone"><main><h1>${heading}</h1><p>${Bun.escapeHTML(text)}</p>${form}</main></body>
</html>
`
  return { status, body, headers }
}

const invalidLink = page(
  'Link invalid or expired',
  'The link is incomplete or too old, or this address was removed from the report. Use the link in the newest email.',
  undefined,
  404,
)

/** The pages behind the links in mails. POST works without a page too, as RFC 8058 requires. */
export function mailRoutes(deps: AlertDeps & { stores: Pick<GateStores, 'catalogue'> }): Route[] {
  const replyTo = async (call: RequestContext, action: (typeof mailActions)[number]) => {
    const { organisation: id = '', token = '' } = call.params
    const organisation = deps.stores.catalogue().organisationByName(id)
    if (organisation === null) return invalidLink
    const isFollowed = call.request.method === 'POST'
    const recipient = isFollowed
      ? await followLink(deps, organisation, action, token, call.requestId)
      : await linkedRecipient(deps, organisation, action, token)
    if (recipient === null) return invalidLink
    const { mail, state } = recipient
    const [name, title] = [organisation.name, `Reports and alerts of ${organisation.name}`]
    if (action === 'unsubscribe') {
      return isFollowed
        ? page('Unsubscribed', `${mail} no longer gets reports and alerts of ${name}.`)
        : page(title, `Sent to ${mail}.`, 'Unsubscribe')
    }
    return isFollowed || state === 'confirmed'
      ? page('Confirmed', `${mail} gets reports and alerts of ${name}.`)
      : page(title, `Confirm to receive them at ${mail}.`, 'Confirm')
  }
  return mailActions.flatMap(action =>
    (['GET', 'POST'] as const).map(method =>
      route({
        ...{ tag: 'Management', caller: 'anyone', isProductFile: true, readers: 'no page' },
        method,
        path: `/mail/${action}/:organisation/:token`,
        operation: method === 'GET' ? `${action}Page` : action,
        summary:
          method === 'GET' ? `The page of a link to ${action}` : `Follow a link to ${action}`,
        responses: {
          200: { description: 'The page.', schema: Type.String(), example: '', type: 'text/html' },
        },
        handle: call => replyTo(call, action),
      }),
    ),
  )
}
