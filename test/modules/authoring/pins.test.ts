import { afterAll, expect, test } from 'bun:test'
import { type FlowDefinition, meantBy } from '../../../src/core/flow/flow.ts'
import { flowWorkHere } from '../../../src/core/flow/work.ts'
import { auditor } from '../../../src/core/organisation/audit.ts'
import { newestDefinition } from '../../../src/modules/authoring/rules.ts'
import { flowNamed, pushFlows } from '../../../src/modules/authoring/service.ts'
import { pinSteps } from '../../../src/modules/authoring/steps.ts'
import type { LookStore } from '../../../src/storage/interfaces/authoring.ts'
import { tour } from '../../support/flows.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

const { clock, management } = world

test('a draft that is edited while its steps are pinned keeps the edit, and is pinned', async () => {
  const tenant = await Tenant.of(world)
  tenant.publish(
    tour({ key: 'pinned', steps: [{ key: 'a', title: 'A', target: { selector: '#a' } }] }),
  )
  const authoring = {
    store: management.flows,
    flowWork: flowWorkHere,
    orgRef: tenant.ref,
    audit: auditor({ via: 'token', name: 'Test', requestId: null }, clock.now()),
    now: clock.now(),
    note: null,
  }
  const read = async (): Promise<FlowDefinition> =>
    newestDefinition(await flowNamed(authoring, 'pinned'))
  const { steps } = await read()
  const target = meantBy(steps[0]!.target!)
  let looked = 0
  const looks: LookStore = {
    async looks() {
      const edit = { ...(await read()), name: 'Edited' }
      // Somebody else edits the draft first, once.
      if (++looked === 1) await pushFlows(authoring, [edit])
      const print = {
        matchCount: 1,
        tag: 'button',
        id: 'new-project',
        role: 'button',
        text: 'New project',
        testId: { attr: 'data-test', value: 'new-project' },
        classes: ['button', 'primary'],
        ancestors: [{ tag: 'main', id: 'board' }],
      }
      return { baseline: { target, at: clock.now(), locale: 'en', print }, alike: 1, of: 1 }
    },
    suggested: async () => ({ byFingerprints: null, byReports: null }),
  }
  const pins = await pinSteps({ ...authoring, looks }, {}, false)
  expect(pins).toMatchObject([{ step: 'a', outcome: 'pinned' }])
  expect(await read()).toMatchObject({
    name: 'Edited',
    steps: [{ target: { fingerprint: { id: 'new-project' } } }],
  })
  const [line] = await management.access.audit(tenant.ref, { most: 1 })
  expect(line).toMatchObject({ action: 'flow.pin', subject: 'pinned' })
})
