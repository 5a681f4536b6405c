import { afterAll, beforeEach, expect, test } from 'bun:test'
import { checklist, tour } from '../../support/flows.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
beforeEach(async () => {
  tenant = await Tenant.of(world)
})

const list = async () => {
  const { status, body } = await tenant.answer('GET /flows')
  expect(status).toBe(200)
  return body as { flows: { key: string; id: string; version: number }[]; version: string }
}

test('an edited flow is returned as it was until it is published again', async () => {
  const { id } = tenant.publish(tour())
  tenant.push(tour({ name: 'Edited' }))
  expect((await tenant.answer(`GET /flows/${id}`)).body).toMatchObject({ name: 'Welcome' })
  tenant.publishAgain('welcome')
  expect((await tenant.answer(`GET /flows/${id}`)).body).toMatchObject({
    name: 'Edited',
    version: 2,
  })
})

test.each(['draft', 'archived'] as const)('a flow that becomes %s is not found', async status => {
  const { id } = tenant.publish(tour())
  tenant.withdraw('welcome', status)
  expect((await list()).flows).toEqual([])
  expect(await tenant.answer(`GET /flows/${id}`)).toMatchObject({
    status: 404,
    body: { code: 'flow_not_found' },
  })
  tenant.publishAgain('welcome')
  expect((await list()).flows).toMatchObject([{ key: 'welcome' }])
})

test('the version of the list changes with every published flow, and with nothing else', async () => {
  const versions = [(await list()).version]
  const isNew = async () => {
    const { version } = await list()
    const known = versions.includes(version)
    versions.push(version)
    return !known
  }
  tenant.publish(tour())
  expect(await isNew()).toBe(true)
  tenant.push(tour({ name: 'Edited' }))
  expect(await isNew()).toBe(false)
  tenant.publishAgain('welcome')
  expect(await isNew()).toBe(true)
  tenant.publish(checklist())
  expect(await isNew()).toBe(true)
  tenant.withdraw('start', 'archived')
  expect(await isNew()).toBe(false)
  const { body } = await tenant.answer('GET /heartbeat')
  expect(body.flowsVersion).toBe((await list()).version)
})
