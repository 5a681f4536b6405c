import { defaultLimits } from '../../core/buckets.ts'
import { refusalRows } from './refusals.ts'

const limitRows = Object.entries(defaultLimits).map(
  ([bucket, requests]) => `| \`${bucket}\` | ${requests} |`,
)

const errorRows = refusalRows.map(
  ({ status, code, when }) => `| ${status} | ${code === null ? '–' : `\`${code}\``} | ${when} |`,
)

/** What holds for every route, in Markdown. */
export const introduction = `
Your pages and back ends ask Cairn what to show and tell it what happened; analysts ask how each flow
does. Bodies are JSON in camelCase. Times go out as RFC 3339 in UTC with milliseconds, and may come in
as that or as epoch milliseconds. Fields that a route does not name are ignored, and answers may gain
fields: ignore those that you do not know. Texts must be well-formed Unicode without NUL; their
lengths count UTF-16 code units, as JavaScript does.

## Who calls

**Pages and back ends** send the organisation's snippet key, \`Authorization: Bearer <key>\`. It stands
in your page, so it is no secret: it reads published flows and reports, and nothing else. A browser's
beacon cannot set headers, so \`?key=<key>\` will do for every POST and for the heartbeat. A header that
is present decides alone. An organisation may list the origins that its pages have.

**Analysts** send a session token, a JWT: from your identity provider, or from \`cairn token issue\`.

To try a route below, press *Authorize*, paste a key or a token, and press *Try it out*. What you send
is real: events count.

## Limits

Counted per organisation and bucket. A window opens at the first request and lasts a minute; the
operator can set other limits than these.

| bucket | requests a minute |
|---|---|
${limitRows.join('\n')}

Every answer carries \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. Over the
limit it is 429 with \`Retry-After\`: wait for so many seconds.

## Errors

A refusal has a sentence for people and a code for programs: \`{"error": "…", "code": "…"}\`. What was
wrong with a request is said in \`details\`, place by place. All are checked in this order: path,
credential, limit, origin, the id in the path, the body, its shape.

| status | code | when |
|---|---|---|
${errorRows.join('\n')}

Every answer has an \`X-Request-Id\`; the server's log knows the request by it. HEAD works where GET
does. Pages of any origin may call: preflights are answered, and the headers above are exposed.

## Sending again

Retry a 429, a 503 and a broken connection. That is safe: an event's id is stored once however often
it is sent, and completions and ticks can be repeated. A 2xx of a write means that it is stored.
`.trim()
