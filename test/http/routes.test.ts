import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { buckets } from '../../src/core/organisation/limits.ts'
import { publicPath, route } from '../../src/http/route.ts'
import { mcpRoutes } from '../../src/modules/mcp/routes.ts'
import { readContract } from '../contract/document.ts'
import { World } from '../support/world.ts'

const world = new World()
afterAll(() => world.close())

const routes = [...world.routes, ...mcpRoutes(world.routes, async r => world.app.handle(r))]

const contract = readContract(
  readFileSync(join(import.meta.dir, '../contract/contract.md'), 'utf8'),
)
/** What anybody may read. */
const description = ['GET /openapi.json anyone', 'GET /docs anyone', 'GET /docs/{file} anyone']
const inContract = contract.routes.map(({ method, path, caller, bucket }) =>
  [method, path.replace('/api/v1', ''), caller.replace(' token', ''), bucket].join(' '),
)

test('the routes, their callers and their buckets are exactly those of the contract', () => {
  const ofApi = routes.filter(({ isProductFile }) => !isProductFile)
  const declared = ofApi.map(({ method, path, caller, bucket }) =>
    [method, path.replace(/:(\w+)/g, '{$1}'), caller.replace(' token', ''), bucket ?? '']
      .join(' ')
      .trim(),
  )
  expect(declared.toSorted()).toEqual([...inContract, ...description].toSorted())
})

const besideApi = `
  GET /snippet.js anyone
  GET /snippet-:file anyone
  GET /images/:file anyone
  GET /docs anyone
  GET /docs/:file anyone
  POST /mcp management
  POST /author/redeem anyone
  POST /author/step anyone
  POST /author/picks anyone
  POST /author/draft anyone
  POST /author/changes anyone
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
  POST /dashboard/session/name dashboard session, own pages
  POST /dashboard/session/sign-out dashboard session, own pages
  GET /dashboard/:org/flows/:key/export.csv dashboard session, own pages
  GET /dashboard/:org/flows/:key/health.csv dashboard session, own pages
  GET /dashboard/sign-in/provider anyone, no page
  GET /dashboard/sign-in/callback anyone, no page
  POST /dashboard/sign-in/logout anyone, no page`
  .trim()
  .split(/\n\s*/)

test('beside the API there are only the snippet, the manual, what authors pick, build and preview, links in mails, and the dashboard, which no other page reads', () => {
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
  route({ ...bare, responses: answers, caller, bucket: 'flows' })
  route({ ...bare, responses: answers, caller: 'anyone' })
  // @ts-expect-error a caller is missing
  route({ ...bare, responses: answers, bucket: 'flows' })
  // @ts-expect-error a bucket is missing
  route({ ...bare, responses: answers, caller })
  // @ts-expect-error answers are missing
  route({ ...bare, caller, bucket: 'flows' })
  // @ts-expect-error there is no answer of a success
  route({ ...bare, responses: { 422: answers[200] }, caller, bucket: 'flows' })
  // @ts-expect-error what anyone may call is nobody's, so nothing is counted
  route({ ...bare, responses: answers, caller: 'anyone', bucket: 'flows' })
})

test('a body may hold a mebibyte where it holds events, flows or an image, 20 KiB at sign-in, 16 KiB where authors pick, 64 KiB elsewhere', () => {
  const large = routes.filter(({ bodyLimitBytes }) => bodyLimitBytes !== undefined)
  expect(large.map(({ method, path, bodyLimitBytes }) => [method, path, bodyLimitBytes])).toEqual([
    ['POST', '/events', 1_048_576],
    ['PUT', '/manage/flows/:key/draft', 1_048_576],
    ['POST', '/manage/push', 1_048_576],
    ['POST', '/manage/validate', 1_048_576],
    ['POST', '/manage/previews', 1_048_576],
    ['POST', '/author/redeem', 16_384],
    ['POST', '/author/picks', 16_384],
    ['POST', '/author/draft', 16_384],
    ['POST', '/author/changes', 65_536],
    ['POST', '/manage/images', 1_048_576],
    ['POST', '/dashboard/session/redeem', 20_480],
    ['POST', '/dashboard/session/token', 20_480],
    ['POST', '/dashboard/session/name', 20_480],
    ['POST', '/dashboard/session/sign-out', 20_480],
  ])
})
