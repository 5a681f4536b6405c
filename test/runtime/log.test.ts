import { describe, expect, jest, test } from 'bun:test'
import { asText, LogSink, openLog, RequestLog } from '../../src/runtime/log.ts'

/** A sink whose output gives these answers: a number of bytes taken, or an error's code. */
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

describe('the output of the log', () => {
  test('a piece contains nothing of the one before, however long its lines and wide its characters', () => {
    const { sink, text } = sinkOver()
    const lines = [line, 'é€😀\n', `${'€'.repeat(16_383)}\n`, `${'€'.repeat(70_000)}\n`, 'short\n']
    for (const each of lines) {
      sink.write(each)
      sink.flush()
    }
    expect(text()).toBe(lines.join(''))
  })

  test('gathered lines are written in time, and no timer is left afterwards', () => {
    jest.useFakeTimers()
    try {
      const { sink, text } = sinkOver()
      expect(jest.getTimerCount()).toBe(0)
      sink.write('first\n')
      sink.write('second\n')
      expect([text(), jest.getTimerCount()]).toEqual(['', 1])
      jest.advanceTimersByTime(200)
      expect([text(), jest.getTimerCount()]).toEqual(['first\nsecond\n', 0])
      sink.write('third\n')
      sink.flush()
      expect([text(), jest.getTimerCount()]).toEqual(['first\nsecond\nthird\n', 0])
    } finally {
      jest.useRealTimers()
    }
  })

  test('the rest of a partial write is written, and a slow reader is waited for', () => {
    const { sink, text } = sinkOver(10, 'EAGAIN', 'EAGAIN', 20)
    sink.write(line)
    sink.flush()
    expect(text()).toBe(line)
  })

  test('nothing is written any more once the reader has gone', () => {
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

  test('a full disk loses one piece, and the log goes on', () => {
    const { sink, text } = sinkOver('ENOSPC')
    sink.write('lost\n')
    sink.flush()
    sink.write('kept\n')
    sink.flush()
    expect(text()).toBe('kept\n')
  })
})

describe('a request’s line', () => {
  const summary = {
    requestId: 'r1',
    method: 'GET',
    route: '/flows/:flow_id',
    organisation: 'org_1',
    status: 200,
    durationMs: 0.4121,
  }
  const common = { level: 'info', requestId: 'r1', time: expect.any(String) }

  test.each([
    [
      'an answer',
      summary,
      {
        route: summary.route,
        organisation: 'org_1',
        status: 200,
        method: 'GET',
        durationMs: 0.412,
        msg: 'GET /flows/:flow_id',
      },
    ],
    [
      'a refusal of nobody, of a method of the caller’s own making',
      {
        ...{ ...summary, route: null, organisation: null, method: '"\n', status: 401 },
        ...({ code: 'unauthorized', cause: 'unknown_key' } as const),
      },
      {
        route: null,
        organisation: null,
        status: 401,
        code: 'unauthorized',
        cause: 'unknown_key',
        method: 'other',
        durationMs: 0.412,
        msg: 'other (no route)',
      },
    ],
  ])('is whole JSON: %s', (_, answered, fields) => {
    const lines: string[] = []
    const own = openLog({ logLevel: 'info', logFormat: 'json' })
    new RequestLog({ ...own, lines: { write: line => lines.push(line) } }).responded(answered)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toEndWith('}\n')
    expect(JSON.parse(lines[0]!)).toEqual({ ...common, ...fields })
  })
})

describe('the log as text', () => {
  const request = JSON.stringify({
    level: 'info',
    time: '2026-11-20T09:30:00.123Z',
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
      '09:30:00.123 info  401    0.410 ms  GET /flows                   requestId=r1 code=unauthorized cause=unknown_key\n',
    )
  })

  test('colours are used only if they are asked for, by status', () => {
    expect(asText(request, false)).not.toContain('\x1b')
    expect(asText(request, true)).toContain('\x1b[33m401\x1b[0m')
  })

  test('characters that would move the cursor or reverse the text are escaped', () => {
    const odd = {
      level: 'warn',
      time: 'T',
      msg: 'm\u202e',
      name: 'a\u009b2J',
      reason: 'r\u001b',
    }
    const text = asText(JSON.stringify(odd), false)
    expect(text).toContain('m\\u202e')
    expect(text).toContain('name=a\\u009b2J')
    expect(text).toEndWith('\n    r\\u001b\n')
  })

  test('a reason keeps its lines, below the message', () => {
    const failed = { level: 'error', time: 'T', msg: 'failed', reason: 'a\n  at b' }
    expect(asText(JSON.stringify(failed), false)).toEndWith('failed\n    a\n      at b\n')
  })
})
