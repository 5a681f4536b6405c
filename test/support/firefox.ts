import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The path of Firefox on this machine; null if there is none. */
export const firefoxProgram = Bun.which('firefox-esr') ?? Bun.which('firefox')

interface Answer {
  id?: number
  type: 'success' | 'error' | 'event'
  result?: unknown
  message?: string
}

/** A Firefox without a window, driven by WebDriver BiDi (W3C), which Playwright cannot do with the stock one. */
export class Firefox {
  private count = 0
  private readonly waiting = new Map<number, (answer: Answer) => void>()

  private constructor(
    private readonly child: Bun.Subprocess,
    private readonly profile: string,
    private readonly socket: WebSocket,
    private context = '',
  ) {
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer
      if (answer.id !== undefined) this.waiting.get(answer.id)?.(answer)
    })
  }

  static async open(): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'cairn-firefox-'))
    const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile]
    const child = Bun.spawn([firefoxProgram!, ...args], { stdout: 'ignore', stderr: 'pipe' })
    const socket = new WebSocket(`${await addressIn(child.stderr)}/session`)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    const firefox = new Firefox(child, profile, socket)
    await firefox.send('session.new', { capabilities: {} })
    const { contexts } = await firefox.send<{ contexts: { context: string }[] }>(
      'browsingContext.getTree',
      {},
    )
    firefox.context = contexts[0]!.context
    return firefox
  }

  private async send<Result>(method: string, params: object): Promise<Result> {
    const id = ++this.count
    const answer = await new Promise<Answer>(resolve => {
      this.waiting.set(id, resolve)
      this.socket.send(JSON.stringify({ id, method, params }))
    })
    this.waiting.delete(id)
    if (answer.type === 'error') throw new Error(`${method}: ${answer.message}`)
    return answer.result as Result
  }

  /** @param size of the page, CSS pixels */
  async goto(url: string, size: { width: number; height: number }): Promise<void> {
    await this.send('browsingContext.setViewport', { context: this.context, viewport: size })
    await this.send('browsingContext.navigate', { context: this.context, url, wait: 'complete' })
  }

  /** The value of an expression on the page, passed on as JSON; a promise is awaited. */
  async evaluate<Result>(expression: string): Promise<Result> {
    const { type, result, exceptionDetails } = await this.send<{
      type: string
      result: { value: string }
      exceptionDetails?: { text: string }
    }>('script.evaluate', {
      expression: `(async () => JSON.stringify(await (${expression})))()`,
      target: { context: this.context },
      awaitPromise: true,
    })
    if (type !== 'success') throw new Error(exceptionDetails?.text)
    return JSON.parse(result.value)
  }

  async close(): Promise<void> {
    this.socket.close()
    this.child.kill()
    await this.child.exited
    rmSync(this.profile, { recursive: true, force: true })
  }
}

async function addressIn(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stderr) {
    text += decoder.decode(chunk, { stream: true })
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(text) ?? []
    if (address) return address
  }
  throw new Error(`Firefox has not begun: ${text}`)
}
