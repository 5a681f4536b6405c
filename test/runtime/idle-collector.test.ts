import { beforeEach, expect, test } from 'bun:test'
import { IdleCollector } from '../../src/runtime/idle-collector.ts'

let collections: number
let answered: number
let collector: IdleCollector

beforeEach(() => {
  collections = 0
  answered = 0
  const collect = () => {
    collections++
  }
  collector = new IdleCollector(() => answered, collect)
})

/** What is answered between two looks. */
function interval(answers: number) {
  answered += answers
  collector.look()
}

test('a thread in a rush is not held up, and gives memory back once when it is over', () => {
  for (let i = 0; i < 5; i++) interval(10_000)
  expect(collections).toBe(0)
  for (let i = 0; i < 5; i++) interval(0)
  expect(collections).toBe(1)
})

test('a few requests now and then keep no garbage, and are worth no collection of their own', () => {
  interval(5_000)
  interval(20)
  expect(collections).toBe(1)
  for (let i = 0; i < 49; i++) interval(20)
  expect(collections).toBe(1)
  interval(20)
  expect(collections).toBe(2)
})

test('a thread that has answered next to nothing is left alone', () => {
  interval(999)
  interval(0)
  expect(collections).toBe(0)
})
