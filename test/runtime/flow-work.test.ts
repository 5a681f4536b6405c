import { afterAll, expect, test } from 'bun:test'
import { type FlowWork, flowWorkHere } from '../../src/core/flow/work.ts'
import type { OrganisationRef } from '../../src/core/reference.ts'
import { FlowWorker } from '../../src/runtime/flow-work.ts'

const [a, b] = [1, 2] as unknown as [OrganisationRef, OrganisationRef]
const most = { ms: 60_000, waiting: 5 }
const worker = new FlowWorker(most)
afterAll(() => worker.close())

const text = 'key: a\nsteps: [{ key: b, title: B }]'
const judge = (work: FlowWork, org = a) => work(org, 'judge', text, { shownAt: 0 })

test('the thread of flows does what this thread would do', async () => {
  const here = await judge(flowWorkHere)
  expect(here.flows.map(({ key }) => key)).toEqual(['a'])
  expect(await judge(worker.work)).toEqual(here)
})

test('an organisation waits for no more than one task of another', async () => {
  const done: string[] = []
  const tasks = [...'aaab'].map(async (name, i) => {
    await judge(worker.work, name === 'a' ? a : b)
    done.push(`${name}${i}`)
  })
  await Promise.all(tasks)
  expect(done.indexOf('b3')).toBeLessThan(done.indexOf('a1'))
})

test('more than may wait is refused at once, and says when to try again', async () => {
  const tasks = Array.from({ length: 8 }, () => judge(worker.work).catch(error => error))
  const refused = (await Promise.all(tasks)).filter(({ code }) => code === 'overloaded')
  expect(refused).toHaveLength(2)
  expect(refused[0].retryAfterSeconds).toBe(1)
})

test('a task that fails or takes too long is given up, and the next is done', async () => {
  const failing = worker.work(a, 'flowText', null as never)
  expect(await failing.catch(error => error)).toBeInstanceOf(Error)
  expect((await judge(worker.work)).flows).toHaveLength(1)
  most.ms = 1
  const long = worker.work(a, 'judge', '- *a\n'.repeat(50_000), {})
  expect(await long.catch(error => error)).toMatchObject({
    code: 'validation_failed',
    details: [{ path: '', message: 'Takes too long to check: make it smaller, or split it' }],
  })
  most.ms = 60_000
  expect((await judge(worker.work)).flows).toHaveLength(1)
})
