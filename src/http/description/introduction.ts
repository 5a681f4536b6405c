import { defaultLimits } from '../../core/organisation/buckets.ts'
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
does.

## In four requests

1. \`GET /flows\`: the published flows, with the ids of their steps and items. Your page decides by
   \`targeting\`, \`frequency\` and \`priority\` which of them it shows.
2. \`POST /events\`: what a person did, in batches of up to 50.
3. \`POST /flows/{flow_id}/complete\` and \`…/checklist-progress\`: what your back end knows to be done.
4. \`GET /flows/{flow_id}/analytics\`: what became of it all.

## Who calls

**Pages and back ends** send the organisation's snippet key, \`Authorization: Bearer <key>\`. It stands
in your page, so it is no secret: it reads published flows and reports, and nothing else. A browser's
beacon cannot set headers, so \`?key=<key>\` will do for every POST and for the heartbeat. A header that
is present decides alone.

**Analysts** send a session token, \`Authorization: Bearer <JWT>\`: from your identity provider, or from
\`cairn token issue\`. A claim of it names the organisation.

To try a route below, press *Authorize*, paste a key or a token, and press *Try it out*. What you send
is real: events count. The page forgets the key when you leave it.

## Requests and answers

- Bodies are JSON in camelCase, sent as \`application/json\` or as \`text/plain\`, which a browser sends
  without a preflight. HEAD works where GET does.
- Fields that a route does not name are ignored. **Answers may gain fields:** ignore those that you do
  not know. None is ever renamed or lost.
- Times go out as RFC 3339 in UTC with milliseconds, and come in as RFC 3339 or as epoch milliseconds.
- A person is a \`userId\`, or an \`anonymousId\` where nobody has signed in. Ids are opaque; a step and an
  item keep theirs when their flow is published again.
- Texts must be well-formed Unicode without NUL. Their lengths count UTF-16 code units, as JavaScript
  does.
- Every answer has an \`X-Request-Id\`; the server's log knows the request by it.

## From a page of another origin

Any origin may call (CORS): preflights are answered, \`Authorization\`, \`Content-Type\` and
\`If-None-Match\` may be sent, and \`ETag\`, \`Retry-After\`, \`X-Request-Id\` and the limit's headers may be
read. No cookie is used. An organisation can list its origins; then a snippet key from another is 403.
A request without an \`Origin\`, as back ends send it, is not affected.

Flows change seldom: send the \`ETag\` that you have as \`If-None-Match\`, and the answer is 304.

## What a 2xx means

**It is stored.** A 202 of events, and every other 2xx of a write, leaves once it is committed and
synced to disk. (An operator can choose earlier answers, \`--ack buffer\`, at the price of the last
moment before a crash.)

**Once.** Give every event an \`id\` of your own, a UUIDv7 at best: an id is stored once for the
organisation, however often and from wherever it is sent, and the first body stands. Completions and
ticks can be repeated too. So retry a 429, a 503 and a broken connection with the same body.

**In time.** Events are taken up to 90 days back, unless the operator keeps them for longer or
shorter; an older one is rejected as \`too_old\`. A time in the future becomes that of its receipt.
Where the sender's clock may be wrong, let it add \`sentAt\` to the batch, its time as it sends: beyond a
minute's difference the events' times are corrected by it.

## Limits

Counted per organisation and bucket. A window opens at the first request and lasts a minute; the
operator can set other limits than these.

| bucket | requests a minute |
|---|---|
${limitRows.join('\n')}

Every answer carries \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix
seconds). Over the limit it is 429 with \`Retry-After\`: wait for so many seconds.

## Errors

A refusal has a sentence for people and a code for programs: \`{"error": "…", "code": "…"}\`. What was
wrong with a request is said in \`details\`, place by place. All are checked in this order: length of
the target, path, credential, limit, origin, the id in the path, the body, its shape.

| status | code | when |
|---|---|---|
${errorRows.join('\n')}

A 401 and a 429 have no code, and a 401 never says why. What is not HTTP at all, such as
contradicting lengths or a broken chunk, gets a bare 400 from the HTTP server below, and more than
64 KiB of headers a bare 431: without a body, and without the headers named here.
`.trim()
