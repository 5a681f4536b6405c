import { beforeEach, expect, test } from 'bun:test'
import { Outbox } from '../../../../src/storage/sqlite/writer/client.ts'
import { framesIn } from '../../../../src/storage/sqlite/writer/messages.ts'

let sent: string[][]
let outbox: Outbox

beforeEach(() => {
  sent = []
  outbox = new Outbox(message => sent.push([...framesIn(message)]))
})

const put = (...commands: string[]) => {
  for (const command of commands) outbox.put(command, { events: 1, bytes: command.length })
}

/** Takes out the messages so far. */
const messages = () => sent.splice(0)

const turn = () => new Promise(resolve => setImmediate(resolve))

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${from + i}`)

test('commands of one turn of the loop leave together, at its end', async () => {
  put('a', 'b\0c', '')
  expect(messages()).toEqual([])
  await turn()
  expect(messages()).toEqual([['a', 'b\0c', '']])
})

test('a lone command never waits for an answer, however many went before it', async () => {
  for (const command of ['a', 'b', 'c', 'd', 'e', 'f']) {
    put(command)
    await turn()
    expect(messages()).toEqual([[command]])
  }
})

test('in a burst, 32 commands leave before its end, and each command leaves once', async () => {
  put(...numbers(0, 31))
  expect(messages()).toEqual([])
  put('31', '32')
  expect(messages()).toEqual([numbers(0, 32)])
  await turn()
  expect(messages()).toEqual([['32']])
  await turn()
  expect(messages()).toEqual([])
})

test('a message with 256 events leaves at once', async () => {
  outbox.put('a', { events: 255, bytes: 1 })
  expect(messages()).toEqual([])
  outbox.put('b', { events: 1, bytes: 1 })
  expect(messages()).toEqual([['a', 'b']])
  await turn()
  expect(messages()).toEqual([])
})

test('a message of a mebibyte leaves at once', () => {
  outbox.put('a', { events: 1, bytes: 1024 ** 2 })
  expect(messages()).toEqual([['a']])
})

test('a command that is acknowledged already leaves at once', async () => {
  put('a')
  outbox.putUnawaited('b', { events: 1, bytes: 1 })
  expect(messages()).toEqual([['b']])
  await turn()
  expect(messages()).toEqual([['a']])
})
