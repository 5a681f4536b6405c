import type { Command } from 'commander'
import { examples } from './examples.ts'
import { addDiff } from './flows/diff.ts'
import { addList } from './flows/list.ts'
import { addPublish } from './flows/publish.ts'
import { addPull } from './flows/pull.ts'
import { addPush } from './flows/push.ts'
import { addSchema } from './flows/schema.ts'
import { addValidate } from './flows/validate.ts'
import { addWithdrawal } from './flows/withdraw.ts'

/** In the order in which a flow's author meets them. */
export function addFlows(cairn: Command): void {
  const flows = cairn
    .command('flows')
    .summary('flows as files: check, compare, push, publish, pull, withdraw')
    .description(
      'Flows are files, in YAML or JSON. Pushing makes a draft of each, publishing freezes drafts ' +
        'as the next versions, which pages show, and pulling gives files back. Flows, steps and ' +
        'items are known by their keys: their ids and numbers stay with these over all versions.',
    )
    .addHelpText(
      'after',
      examples(
        'cairn flows schema > cairn-flow.schema.json    editors complete and check by it',
        'cairn flows validate tour.yaml                 what is wrong, and where',
        'cairn flows diff tour.yaml                     what pushing it would change',
        'cairn flows push tour.yaml                     a draft, which no page shows',
        'cairn flows publish welcome                    every page shows it from now on',
        'cairn flows pull --out flows                   all of them as files again',
      ),
    )
  addValidate(flows)
  addDiff(flows)
  addPush(flows)
  addPublish(flows)
  addWithdrawal(flows, 'unpublish')
  addWithdrawal(flows, 'archive')
  addList(flows)
  addPull(flows)
  addSchema(flows)
}
