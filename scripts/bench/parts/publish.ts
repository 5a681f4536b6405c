import type { Bench, Found } from '../bench.ts'
import type { Figure } from '../figures.ts'
import { allAnswered, asBrowser, type Loaded, repeat } from '../load.ts'
import { executable, Folder, type Program, startCairn } from '../programs.ts'

const part = 'publish'

/** As many flows as one call takes, of as many steps as a flow may have. */
const flowsACall = 50
const stepsOfFlow = 50

/** Pages that report an event each now and then, with time in between for a machine to do the rest. */
const pages = { connections: 8, pauseMs: 4 }

const event = JSON.stringify({ events: [{ kind: 'custom', name: 'clicked', userId: 'somebody' }] })

/** What pages wait for their events to be stored while an author publishes as much as may be. */
export async function publish({ effort, seeds }: Bench): Promise<Found> {
  const calm: Loaded[] = []
  const busy: Loaded[] = []
  const pushes: number[] = []
  for (let round = 0; round < effort.rounds; round++) {
    using folder = new Folder()
    const [pagesOf, author] = seeds.plant(folder, 2, 1)
    const token = await managementToken(folder, author!.id)
    await using cairn = await startCairn(folder)
    const post = (seconds: number) => {
      const headers = asBrowser(pagesOf!)
      return repeat(cairn, { path: '/api/v1/events', headers, body: event }, { ...pages, seconds })
    }
    const editor = new Author(cairn, token)
    // Once before, so that nothing is measured cold.
    await post(effort.warmSeconds)
    await editor.push()
    calm.push(await post(effort.seconds))
    const posting = post(effort.seconds)
    const until = performance.now() + effort.seconds * 1_000 - 300
    while (performance.now() < until) pushes.push(await editor.push())
    busy.push(await posting)
  }
  allAnswered(part, [...calm, ...busy])
  const during = `while ${flowsACall} flows of ${stepsOfFlow} steps are published at once`
  const figures = (
    [
      ['p99', 'p99Ms'],
      ['slowest', 'maxMs'],
    ] as const
  ).flatMap(([name, of]): Figure[] => {
    const [ofBusy, ofCalm] = [busy, calm].map(loads => loads.map(loaded => loaded[of])) as [
      number[],
      number[],
    ]
    const longer = ofBusy.map((ms, i) => ms - ofCalm[i]!)
    const what = `POST /events, ${name}, ${during}; beside: while nothing is`
    return [
      { part, what, unit: 'ms', cairn: ofBusy, beside: ofCalm },
      {
        part,
        what: `${name}: how much longer`,
        unit: 'ms',
        cairn: longer,
        goal: 'at most 20',
        most: 20,
      },
    ]
  })
  figures.push({ part, what: 'a push of them all', unit: 'ms', cairn: pushes })
  return { figures }
}

async function managementToken(folder: Folder, organisation: string): Promise<string> {
  const scopes = ['flows:write', 'flows:publish']
  const create = ['token', 'create', 'bench', '--org', organisation, '--scope', ...scopes]
  const child = Bun.spawn([executable, ...create, '--data', folder.path], { env: {} })
  return (await new Response(child.stdout).text()).trim()
}

/** Publishes the same flows again and again, each time with other texts. */
class Author {
  private pushes = 0

  constructor(
    private readonly program: Program,
    private readonly token: string,
  ) {}

  /** @returns how long it took, milliseconds */
  async push(): Promise<number> {
    const n = ++this.pushes
    const steps = Array.from({ length: stepsOfFlow }, (_, i) => ({
      key: `step-${i}`,
      kind: 'modal',
      title: `Step ${i} of version ${n}`,
      body: 'This is where **everything** begins.',
    }))
    const flows = Array.from({ length: flowsACall }, (_, i) => ({ key: `pushed-${i}`, steps }))
    const body = JSON.stringify({ flows, publish: true })
    const startedAt = performance.now()
    const response = await fetch(`${this.program.url}/api/v1/manage/push`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body,
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`a push was answered ${response.status}: ${text}`)
    return performance.now() - startedAt
  }
}
