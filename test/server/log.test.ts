import { describe, expect, test } from 'bun:test'
import { LogSink } from '../../src/server/log-sink.ts'
import { asText } from '../../src/server/log-text.ts'

/** A sink whose output answers as told: a number of bytes taken, or an error's code. */
function sinkOver(...answers: (number | string)[]) {
  let text = ''
  const pieces: number[] = []
  const sink = new LogSink(bytes => {
    const answer = answers.shift() ?? bytes.length
    if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer })
    pieces.push(bytes.length)
    text += bytes.subarray(0, answer).toString()
    return answer
  })
  return { sink, pieces, text: () => text }
}

const line = `${'x'.repeat(299)}\n`

describe('the log’s way out', () => {
  test('lines leave whole, in pieces that a pipe does not mix with another thread’s', () => {
    const { sink, pieces, text } = sinkOver()
    for (let i = 0; i < 100; i++) sink.write(line)
    sink.flush()
    expect(text()).toBe(line.repeat(100))
    for (const length of pieces) {
      expect(length).toBeLessThanOrEqual(4_096)
      expect(length % line.length).toBe(0)
    }
    expect(pieces.length).toBeLessThan(10)
  })

  test('what is taken in part is sent on, and a slow reader is waited for', () => {
    const { sink, text } = sinkOver(10, 'EAGAIN', 'EAGAIN', 20)
    sink.write(line)
    sink.flush()
    expect(text()).toBe(line)
  })

  test('once the reader has gone nothing is tried any more', () => {
    const { sink, pieces } = sinkOver('EPIPE')
    for (let i = 0; i < 3; i++) {
      sink.write(line)
      sink.flush()
    }
    expect(pieces).toEqual([])
  })

  test('a reader that has stopped is waited for once, and the next line is whole', () => {
    const { sink, text } = sinkOver(3, ...Array.from({ length: 201 }, () => 'EAGAIN'))
    for (const line of ['first\n', 'second\n', 'third\n']) {
      sink.write(line)
      sink.flush()
    }
    expect(text()).toBe('fir\nthird\n')
  })

  test('a full disk costs its piece, and the log goes on', () => {
    const { sink, text } = sinkOver('ENOSPC')
    sink.write('lost\n')
    sink.flush()
    sink.write('kept\n')
    sink.flush()
    expect(text()).toBe('kept\n')
  })
})

describe('the log as text', () => {
  const request = JSON.stringify({
    level: 'info',
    time: '2026-11-20T09:30:00.123Z',
    thread: 'http-1',
    requestId: 'r1',
    route: '/flows',
    organisation: null,
    status: 401,
    code: 'unauthorized',
    cause: 'unknown_key',
    method: 'GET',
    durationMs: 0.41,
    msg: 'GET /flows',
  })

  test('a request is one aligned line', () => {
    expect(asText(request, false)).toBe(
      '09:30:00.123 info  http-1  401    0.410 ms  GET /flows                   requestId=r1 code=unauthorized cause=unknown_key\n',
    )
  })

  test('colours only where they are asked for, by status', () => {
    expect(asText(request, false)).not.toContain('\x1b')
    expect(asText(request, true)).toContain('\x1b[33m401\x1b[0m')
  })

  test('a reason keeps its lines, below', () => {
    const failed = { level: 'error', time: 'T', thread: 'main', msg: 'failed', reason: 'a\n  at b' }
    expect(asText(JSON.stringify(failed), false)).toEndWith('failed\n    a\n      at b\n')
  })
})
