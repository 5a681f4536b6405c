import { expect, test } from 'bun:test'
import { csvStream } from '../../src/http/download.ts'

test('a client that goes away while a page is read breaks nothing, and no more is read', async () => {
  const broken: unknown[] = []
  const requested = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  let pagesRead = 0
  const pages = async function* () {
    for (;;) {
      requested.resolve()
      await arrived.promise
      yield [++pagesRead]
    }
  }
  const onBroken = (error: unknown) => broken.push(error)
  const reader = csvStream(['n'], pages(), n => [n], { bom: false, onBroken }).getReader()
  // The header; from now on the first page is read.
  await reader.read()
  await requested.promise
  const cancelled = reader.cancel()
  arrived.resolve()
  await cancelled
  expect({ broken, pagesRead }).toEqual({ broken: [], pagesRead: 1 })
})
