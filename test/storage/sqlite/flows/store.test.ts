import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFlowFile } from '../../../../src/core/flow/file.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { publishFlows, pushAndPublishFlows, withdrawFlows } from '../../../support/authoring.ts'
import { createOrganisation } from '../../../support/organisations.ts'

const now = 1_790_000_000_000

test('a withdrawn version with an error by the rules of today is not published again', () => {
  const database = new Database(':memory:', { strict: true })
  migrate(database, now)
  const org = createOrganisation(database, { name: 'Harbor' }, now).organisation.row
  const { flows } = readFlowFile('key: tour\nsteps: [{ key: a, title: A }]')
  const publish = () => publishFlows(database, org, ['tour'], () => now)
  pushAndPublishFlows(database, org, flows, () => now)
  // A tooltip needs a target.
  database.run(`update flow_versions set body = json_set(body, '$.steps[0].kind', 'tooltip')`)
  expect(publish()).toMatchObject([{ outcome: 'already published' }])
  withdrawFlows(database, org, ['tour'], 'draft', now)
  expect(publish).toThrow(
    expect.objectContaining({
      details: [expect.objectContaining({ path: '/tour/steps/0/target' })],
    }),
  )
})
