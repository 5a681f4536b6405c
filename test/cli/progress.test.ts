import { describe, expect, test } from 'bun:test'
import { progressBar } from '../../src/cli/progress.ts'

/** What a bar writes, with a clock that advances by `stepMs` with each call. */
function shown(isTTY: boolean, stepMs: number, calls: number): string[] {
  const written: string[] = []
  const stderr = { isTTY, write: (text: string) => written.push(text) }
  let now = 0
  const bar = progressBar({ stderr } as unknown as NodeJS.Process, () => {
    now += stepMs
    return now
  })
  for (let done = 1; done <= calls; done++) {
    bar.show({ phase: 'hashing', done: done * 1e6, total: calls * 1e6 })
  }
  bar.end()
  return written
}

describe('on a terminal', () => {
  test('a bar is redrawn in its place, and gone in the end', () => {
    const all = shown(true, 100, 10)
    expect(all[0]).toBe(
      '\r\u001b[Kmaking the checksum [##......................] 10 % (1 of 10 MB)',
    )
    expect(all.at(-2)).toContain('[########################] 100 % (10 of 10 MB)')
    expect(all.at(-1)).toBe('\r\u001b[K')
  })

  test('it is not drawn more often than can be seen', () => {
    expect(shown(true, 1, 1_000).length).toBeLessThan(30)
  })
})

describe('without a terminal', () => {
  test('short work prints nothing, long work a line every five seconds', () => {
    expect(shown(false, 1, 1_000)).toEqual([])
    const lines = shown(false, 1_000, 20)
    expect(lines.length).toBeWithin(2, 10)
    for (const line of lines)
      expect(line).toMatch(/^cairn: making the checksum \d+ % \(\d+ of 20 MB\)\n$/)
  })
})
