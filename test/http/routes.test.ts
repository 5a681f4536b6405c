import { afterAll, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { buckets } from '../../src/core/organisation/buckets.ts'
import { publicPath, route } from '../../src/http/route.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

const routes = world.routes

const inContract = `
  GET /flows snippet key flows
  GET /flows/:flow_id snippet key flows
  POST /flows/:flow_id/complete snippet key flows
  GET /flows/:flow_id/checklist-progress snippet key flows
  POST /flows/:flow_id/checklist-progress snippet key flows
  POST /events snippet key events
  POST /steps/:step_id/fingerprint snippet key fingerprint
  POST /steps/:step_id/health snippet key health
  GET /heartbeat snippet key heartbeat
  GET /snippet-status snippet key status
  GET /flows/:flow_id/analytics session token analytics
  GET /flows/:flow_id/analytics/export.csv session token export
  GET /manage/me management manage
  GET /manage/nodes management manage
  GET /manage/tokens management manage
  POST /manage/tokens management manage
  DELETE /manage/tokens/:token_id management manage
  GET /manage/audit management manage
  GET /manage/organisations management manage
  POST /manage/organisations management manage
  GET /manage/settings management manage
  PATCH /manage/settings management manage
  GET /manage/keys management manage
  POST /manage/keys/rotate management manage
  GET /manage/identity management manage
  POST /manage/identity/rotate management manage
  GET /manage/alerts management manage
  GET /manage/alerts/settings management manage
  PATCH /manage/alerts/settings management manage
  POST /manage/alerts/confirmations management manage
  POST /manage/alerts/report management manage
  GET /manage/alerts/mails management manage
  GET /manage/webhooks management manage
  POST /manage/webhooks management manage
  PATCH /manage/webhooks/:webhook_id management manage
  DELETE /manage/webhooks/:webhook_id management manage
  POST /manage/webhooks/:webhook_id/rotate management manage
  POST /manage/webhooks/:webhook_id/test management manage
  GET /manage/webhooks/:webhook_id/deliveries management manage
  POST /manage/webhooks/:webhook_id/deliveries/:delivery_id/replay management manage
  POST /manage/alerts/mails/:delivery_id/replay management manage
  GET /manage/activity management manage
  GET /manage/events management manage
  GET /manage/install management manage
  POST /manage/explain management manage
  GET /manage/health management manage
  GET /manage/flows management manage
  GET /manage/flows/:key/draft management manage
  PUT /manage/flows/:key/draft management manage
  DELETE /manage/flows/:key/draft management manage
  GET /manage/flows/:key/health.csv management manage
  POST /manage/flows/:key/unlock management manage
  GET /manage/flows/:key/diff management manage
  POST /manage/flows/:key/publish management manage
  POST /manage/publish management manage
  POST /manage/flows/:key/unpublish management manage
  POST /manage/unpublish management manage
  POST /manage/flows/:key/archive management manage
  POST /manage/archive management manage
  GET /manage/flows/:key/versions management manage
  GET /manage/flows/:key/versions/:version management manage
  POST /manage/flows/:key/versions/:version/restore management manage
  POST /manage/push management manage
  POST /manage/pin management manage
  POST /manage/validate management manage
  GET /manage/schema management manage
  POST /manage/flows/:key/steps/:step/repair management manage
  POST /manage/author-sessions management manage
  GET /manage/author-sessions/:session_id management manage
  DELETE /manage/author-sessions/:session_id management manage
  POST /manage/previews management manage
  GET /manage/previews management manage
  DELETE /manage/previews/:preview_id management manage
  GET /manage/environments management manage
  POST /manage/environments management manage
  DELETE /manage/environments/:organisation management manage
  GET /manage/environments/:organisation/flows management manage
  GET /manage/environments/:organisation/flows/:key/diff management manage
  POST /manage/environments/:organisation/flows/:key/promote management manage
  GET /manage/flows/:key/runs management manage
  GET /manage/flows/:key/answers management manage
  GET /manage/people management manage
  GET /manage/people/history management manage
  GET /manage/server management manage
  DELETE /manage/people management manage
  POST /manage/people/allow management manage
  GET /manage/dead-letters management manage
  POST /manage/dead-letters/retry management manage
  POST /manage/dead-letters/drop management manage
  POST /manage/rebuild management manage
  POST /manage/compact management manage
  POST /manage/dashboard/links management manage
  GET /openapi.json anyone
  GET /manage/summary management manage
  GET /docs anyone
  GET /docs/:file anyone`
  .trim()
  .split(/\n\s*/)

test('the routes, their callers and their buckets are exactly those of the contract', () => {
  const ofApi = routes.filter(({ isProductFile }) => !isProductFile)
  const declared = ofApi.map(({ method, path, caller, bucket }) =>
    [method, path, caller, bucket ?? ''].join(' ').trim(),
  )
  expect(declared.toSorted()).toEqual(inContract.toSorted())
})

const besideApi = `
  GET /snippet.js anyone
  GET /snippet-:file anyone
  GET /docs anyone
  GET /docs/:file anyone
  POST /author/redeem anyone
  POST /author/step anyone
  POST /author/picks anyone
  POST /preview/flow anyone
  GET /mail/confirm/:organisation/:token anyone, no page
  POST /mail/confirm/:organisation/:token anyone, no page
  GET /mail/unsubscribe/:organisation/:token anyone, no page
  POST /mail/unsubscribe/:organisation/:token anyone, no page
  GET /dashboard anyone, no page
  GET /dashboard/* anyone, no page
  GET /dashboard/assets/:file anyone, no page
  GET /dashboard/session/ways anyone, own pages
  POST /dashboard/session/redeem anyone, own pages
  POST /dashboard/session/token dashboard session, own pages
  POST /dashboard/session/sign-out dashboard session, own pages
  GET /dashboard/:org/flows/:key/export.csv dashboard session, own pages
  GET /dashboard/:org/flows/:key/health.csv dashboard session, own pages
  GET /dashboard/sign-in/provider anyone, no page
  GET /dashboard/sign-in/callback anyone, no page
  POST /dashboard/sign-in/logout anyone, no page`
  .trim()
  .split(/\n\s*/)

test('beside the API there are only the snippet, the manual, what authors pick and preview, links in mails, and the dashboard, which no other page reads', () => {
  const files = routes.filter(({ isProductFile }) => isProductFile)
  const told = files.map(route => {
    const readers = route.readers === undefined ? '' : `, ${route.readers}`
    return `${route.method} ${publicPath(route)} ${route.caller}${readers}`
  })
  expect(told.toSorted()).toEqual(besideApi.toSorted())
})

test('every registered route is a declared one or its preflight, with a caller and a bucket', () => {
  const registered = world.app.routes.map(({ method, path }) => `${method} ${path}`)
  const declared = routes.flatMap(route =>
    (route.method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [route.method, 'OPTIONS']).map(
      verb => `${verb} ${publicPath(route)}`,
    ),
  )
  expect(registered.toSorted()).toEqual([...new Set(declared)].toSorted())
  for (const route of routes) {
    if (route.caller === 'anyone') expect(route.bucket).toBeUndefined()
    else expect(buckets).toContain(route.bucket)
    expect(route.summary).toMatch(/^[A-Z].*[^.]$/)
  }
})

const guarded = routes.filter(({ caller }) => caller !== 'anyone')

test.each(guarded.map(route => [`${route.method} ${route.path}`, route] as const))(
  '%s lets nobody in without a credential',
  async (_, route) => {
    const path = publicPath(route).replace(/:\w+/g, 'no_such_id')
    const request = new Request(`http://cairn.test${path}`, { method: route.method })
    expect((await world.app.handle(request)).status).toBe(401)
  },
)

test('a route without a caller, a bucket or its answers does not compile', () => {
  const bare = {
    method: 'GET',
    path: '/nowhere',
    operation: 'getNothing',
    tag: 'Flows',
    summary: 'Nothing',
    handle: () => ({ status: 200 }),
  } as const
  const answers = { 200: { description: 'Nothing.', schema: Type.Null() } }
  const caller = 'snippet key'
  route({ ...bare, answers, caller, bucket: 'flows' })
  route({ ...bare, answers, caller: 'anyone' })
  // @ts-expect-error a caller is missing
  route({ ...bare, answers, bucket: 'flows' })
  // @ts-expect-error a bucket is missing
  route({ ...bare, answers, caller })
  // @ts-expect-error answers are missing
  route({ ...bare, caller, bucket: 'flows' })
  // @ts-expect-error there is no answer of a success
  route({ ...bare, answers: { 422: answers[200] }, caller, bucket: 'flows' })
  // @ts-expect-error what anyone may call is nobody's, so nothing is counted
  route({ ...bare, answers, caller: 'anyone', bucket: 'flows' })
})

test('a body may hold a mebibyte where it holds events or flows, 20 KiB at sign-in, 16 KiB where authors pick, 64 KiB elsewhere', () => {
  const large = routes.filter(({ bodyLimitBytes }) => bodyLimitBytes !== undefined)
  expect(large.map(({ method, path, bodyLimitBytes }) => [method, path, bodyLimitBytes])).toEqual([
    ['POST', '/events', 1_048_576],
    ['PUT', '/manage/flows/:key/draft', 1_048_576],
    ['POST', '/manage/push', 1_048_576],
    ['POST', '/manage/validate', 1_048_576],
    ['POST', '/author/redeem', 16_384],
    ['POST', '/author/picks', 16_384],
    ['POST', '/manage/previews', 1_048_576],
    ['POST', '/dashboard/session/redeem', 20_480],
    ['POST', '/dashboard/session/token', 20_480],
    ['POST', '/dashboard/session/sign-out', 20_480],
  ])
})
