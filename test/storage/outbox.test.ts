import { beforeEach, describe, expect, test } from 'bun:test'
import { framesIn } from '../../src/storage/frames.ts'
import { Outbox } from '../../src/storage/outbox.ts'

let sent: string[][]
let outbox: Outbox

/** Waits, where it does, for longer than any test may take. */
const patient = 1_000_000

const newOutbox = (longestWaitMs: number) =>
  new Outbox(message => sent.push([...framesIn(message)]), longestWaitMs)

beforeEach(() => {
  sent = []
  outbox = newOutbox(patient)
})

const put = (...commands: string[]) => {
  for (const command of commands) outbox.put(command, 1)
}

/** The messages so far; taken out. */
const messages = () => sent.splice(0)

const turn = () => new Promise(resolve => setImmediate(resolve))

test('commands of one turn of the loop leave together, at its end', async () => {
  put('a', 'b\0c', '')
  expect(messages()).toEqual([])
  await turn()
  expect(messages()).toEqual([['a', 'b\0c', '']])
})

test('a lone command never waits, however many went before it alone', async () => {
  for (const command of ['a', 'b', 'c', 'd', 'e', 'f']) {
    put(command)
    await turn()
    expect(messages()).toEqual([[command]])
    outbox.answered(1)
  }
})

describe('while storage owes an answer', () => {
  beforeEach(async () => {
    put('a', 'b')
    await turn()
    messages()
  })

  test('what comes waits, and leaves together once all is answered', async () => {
    put('c')
    await turn()
    put('d')
    outbox.answered(1)
    await turn()
    expect(messages()).toEqual([])
    outbox.answered(1)
    await turn()
    expect(messages()).toEqual([['c', 'd']])
  })

  test('what is worth a commit of its own does not wait', async () => {
    outbox.put('c', 255)
    await turn()
    expect(messages()).toEqual([])
    outbox.put('d', 1)
    await turn()
    expect(messages()).toEqual([['c', 'd']])
  })

  test('what was acknowledged already leaves at once', () => {
    put('c')
    outbox.putUnawaited('d')
    expect(messages()).toEqual([['d']])
  })
})

describe('while commands come often', () => {
  const four = async () => {
    put('a', 'b', 'c', 'd')
    await turn()
    messages()
    outbox.answered(4)
  }

  test('a message waits for as many as the last one had', async () => {
    await four()
    put('e', 'f')
    await turn()
    expect(messages()).toEqual([])
    put('g', 'h')
    await turn()
    expect(messages()).toEqual([['e', 'f', 'g', 'h']])
  })

  test('fewer leave after a moment, and then a lone command waits no more', async () => {
    outbox = newOutbox(1)
    await four()
    put('e')
    while (sent.length === 0) await Bun.sleep(1)
    expect(messages()).toEqual([['e']])
    outbox.answered(1)
    put('f')
    await turn()
    expect(messages()).toEqual([['f']])
  })
})
