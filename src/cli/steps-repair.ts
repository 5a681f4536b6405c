import { shown } from '../core/text/wording.ts'
import type { RepairAnswer } from '../modules/authoring/schema.ts'
import { nextForDrafts } from './flows/records.ts'
import { print } from './output.ts'
import { option, row } from './table.ts'

export const repairRow = row<RepairAnswer>({
  name: 'repair',
  summary: "put a selector that finds a step's element into the flow's draft",
  about:
    "put a selector that finds a step's element into the flow's draft: the one that is given, else the one by which pages would find it again; publishes nothing",
  args: { '<flow>': "the flow's key", '<step>': "the step's key" },
  options: [
    option('--selector <selector>', 'use this selector instead of the suggested one'),
    option('--note <text>', 'why, for the audit log'),
  ],
  route: 'POST /flows/:flow/steps/:step/repair',
  body: ({ selector, note }) => ({ selector, note }),
  headers: { 'if-match': '*' },
  show({ outcome, before, selector, flow, step }, { orgFlag }) {
    const name = `${flow.key}/${step}`
    if (outcome === 'unchanged') {
      return print(`${name} already has the selector \`${shown(selector, 1_000)}\``)
    }
    print(
      `${name}: \`${shown(before, 1_000)}\` is \`${shown(selector, 1_000)}\` now, in the draft, which pages do not show yet`,
      ...nextForDrafts(flow.key, orgFlag),
    )
  },
  examples: [
    'cairn steps repair welcome create',
    "cairn steps repair welcome create --selector '[data-test=new-project]'",
    'cairn flows publish welcome',
  ],
})
