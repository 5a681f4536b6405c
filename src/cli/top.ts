import { readConfig, type SettingName } from '../config.ts'
import { wantsColour } from '../core/text/colour.ts'
import { onOneLine } from '../core/text/unseen.ts'
import { holderOf } from '../runtime/lock.ts'
import type { OrganisationTraffic } from '../runtime/traffic.ts'
import type { Command } from './command.ts'
import { CommandFailure } from './failure.ts'
import { ask, managementUrl } from './management.ts'
import { printJson, printPainted } from './output.ts'
import { addSettings } from './settings.ts'
import { type Figures, figuresBetween, type Look } from './top/figures.ts'
import { MetricsPage } from './top/metrics-page.ts'
import { linesOf } from './top/screen.ts'

/** Between two looks, milliseconds: rates are over this time. */
const everyMs = 1_000

/** Characters of an answer; a server with many busy organisations says a hundred thousand. */
const mostCharacters = 4_000_000

const places = ['data', 'managementPort', 'managementHost'] as const satisfies SettingName[]

export function addTop(cairn: Command): void {
  addSettings(cairn.command('top'), places, {
    data: { help: 'directory of the server, which says in it where its management port is' },
    managementPort: { help: 'port that the server answers /metrics on' },
  })
    .description(
      'show what a running server does, each second: requests, events, commits, organisations by traffic; q quits',
    )
    .option('--once', 'print one second of it and end; so it is where stdout is no terminal')
    .option('--json', 'print one second of it as JSON; rates are a second, null where nothing was')
    .examples(
      'cairn top',
      'cairn top --management-port 9191',
      "cairn top --json | jq '.organisations[:3]'",
    )
    .action(async (options: { once?: boolean; json?: boolean }, command: Command) => {
      const server = serverOf(command)
      if (!options.json && !options.once && process.stdout.isTTY) return showLive(server)
      const from = await lookAt(server)
      await Bun.sleep(everyMs)
      const figures = figuresBetween(from, await lookAt(server), Date.now())
      if (options.json) return printJson(figures)
      const isColoured = wantsColour(process.stdout, process.env)
      const { columns = 80 } = process.stdout
      printPainted(...linesOf(figures, server(''), { columns, rows: null, isColoured }))
    })
}

type Server = (path: string) => string

/** Where the management port was named, there; else where the server of the data directory says. */
function serverOf(command: Command): Server {
  const source = { flags: command.opts(), env: process.env }
  const { config, given } = readConfig(source, places)
  const holder = given.has('managementPort') ? null : holderOf(config.data)
  const { managementHost, managementPort } = holder ?? config
  return path => managementUrl(managementHost, managementPort, path)
}

async function lookAt(server: Server): Promise<Look> {
  const [metrics, traffic] = await Promise.all([
    ask(server('/metrics'), mostCharacters),
    ask(server('/traffic'), mostCharacters),
  ])
  const url = server('/metrics')
  if (metrics.status === null) {
    throw new CommandFailure(`${url} cannot be reached (${metrics.answer}): is a server running?`)
  }
  const page = new MetricsPage(metrics.answer)
  if (!page.has('cairn_build_info')) {
    throw new CommandFailure(`${url} is not Cairn's: name its port with --management-port`)
  }
  return { atMs: performance.now(), metrics: page, traffic: trafficIn(traffic) }
}

/** An older server does not say it. */
function trafficIn({ status, answer }: { status: number | null; answer: string }) {
  if (status !== 200) return new Map<string, OrganisationTraffic>()
  const rows = JSON.parse(answer) as OrganisationTraffic[]
  return new Map(rows.map(row => [row.id, row]))
}

const screenOn = '\x1b[?1049h\x1b[?25l'
const screenOff = '\x1b[?25h\x1b[?1049l'

/** Until q, Ctrl-C or the end of the terminal; leaves it as it was. */
async function showLive(server: Server): Promise<void> {
  let from = await lookAt(server)
  const quit = Promise.withResolvers<null>()
  const { stdin, stdout } = process
  const keys = (typed: Buffer) => {
    if (/[q\x03\x04]/.test(typed.toString())) quit.resolve(null)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => quit.resolve(null))
  }
  if (stdin.isTTY) stdin.setRawMode(true).on('data', keys).resume()
  stdout.write(screenOn)
  try {
    draw([`looking at ${server('')} for a second …`])
    for (;;) {
      const next = Bun.sleep(everyMs).then(() => lookAt(server).catch((fault: Error) => fault))
      const to = await Promise.race([next, quit.promise])
      if (to === null) return
      if (to instanceof Error)
        draw([onOneLine(`no answer: ${to.message}`), 'it is asked again; q quits'])
      else {
        drawFigures(figuresBetween(from, to, Date.now()), server)
        from = to
      }
    }
  } finally {
    stdout.write(screenOff)
    if (stdin.isTTY) stdin.setRawMode(false).off('data', keys).pause()
  }
}

function drawFigures(figures: Figures, server: Server): void {
  const { columns = 80, rows = 24 } = process.stdout
  const isColoured = wantsColour(process.stdout, process.env)
  draw(linesOf(figures, server(''), { columns, rows: rows - 1, isColoured }))
}

/** From the upper left, each line to its end, so that nothing flickers. */
const draw = (lines: readonly string[]) =>
  process.stdout.write(`\x1b[H${lines.map(line => `${line}\x1b[K`).join('\r\n')}\r\n\x1b[J`)
