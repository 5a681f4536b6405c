import { shown } from '../core/text/wording.ts'
import type { RepairAnswer } from '../modules/authoring/model.ts'
import type { Command, Flags } from './command.ts'
import { nextForDrafts, orgFlag } from './flows/records.ts'
import { addManaged, managed } from './manage.ts'
import { print, printJson } from './output.ts'

type Options = Flags<'selector' | 'note', 'json'>

export function addRepair(steps: Command): void {
  addManaged(steps.command('repair'))
    .summary("put a selector that finds a step's element into the flow's draft")
    .description(
      "put a selector that finds a step's element into the flow's draft: the one that is given, else the one by which pages would find it again; publishes nothing",
    )
    .argument('<flow>', "the flow's key")
    .argument('<step>', "the step's key")
    .option('--selector <selector>', 'use this selector instead of the suggested one')
    .option('--note <text>', 'why, for the audit log')
    .option('--json', 'print {step, outcome, suggestedBy, before, selector, flow}')
    .examples(
      'cairn steps repair welcome create',
      "cairn steps repair welcome create --selector '[data-test=new-project]'",
      'cairn flows publish welcome',
    )
    .action(async (flow: string, step: string, options: Options, command: Command) => {
      const { selector: given, note, json } = options
      const body = { selector: given, note }
      const path = `/flows/${encodeURIComponent(flow)}/steps/${encodeURIComponent(step)}/repair`
      const { repair, org } = await managed(command, async manager => ({
        repair: await manager.ask<RepairAnswer>(`POST ${path}`, {
          body,
          headers: { 'if-match': '*' },
        }),
        org: orgFlag(manager),
      }))
      if (json) return printJson(repair)
      const { outcome, before, selector } = repair
      const name = `${repair.flow.key}/${repair.step}`
      if (outcome === 'unchanged') {
        return print(`${name} already has the selector \`${shown(selector, 1_000)}\``)
      }
      print(
        `${name}: \`${shown(before, 1_000)}\` is \`${shown(selector, 1_000)}\` now, in the draft, which pages do not show yet`,
        ...nextForDrafts(repair.flow.key, org),
      )
    })
}
