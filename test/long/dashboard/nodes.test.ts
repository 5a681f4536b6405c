import { expect } from 'bun:test'
import { builtBinary } from '../../support/binary.ts'
import { TestBrowser } from '../../support/browser.ts'
import { Cluster, type ClusterNode, describe } from '../../support/cluster.ts'
import { hardToUse } from '../../support/dashboard.ts'
import { afterAll, beforeAll, test } from '../../support/in-browser.ts'

/** The dashboard of several servers that share a database. */

describe('the page of the server', () => {
  let cluster: Cluster
  let browser: TestBrowser
  beforeAll(async () => {
    cluster = await Cluster.open({ program: await builtBinary() })
    await cluster.succeeded(['org', 'create', 'Harbor'])
    await cluster.serve(2)
    browser = await TestBrowser.open()
  })
  afterAll(async () => {
    for (const { child } of cluster?.nodes ?? []) child.kill('SIGCONT')
    await browser?.close()
    await cluster?.close()
  })

  test('shows the state of each node, and the jobs that only one of them does', async () => {
    const [answering, still] = cluster.nodes as [ClusterNode, ClusterNode]
    const args = ['dashboard', 'link', '--role', 'operator', '--name', 'Ann', '--json']
    const { url } = JSON.parse(await cluster.succeeded([...args, '--public-url', answering.url]))
    const { page } = await browser.page()
    await page.goto(url)
    await page.getByRole('button', { name: 'Sign in with this link' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goto(`${answering.url}/dashboard/harbor/server`)
    const nodes = page.getByRole('table', { name: 'Nodes' })
    const rowOf = ({ port }: ClusterNode) => nodes.getByRole('row', { name: `:${port} ` })
    for (const node of [answering, still]) {
      await rowOf(node).getByText('running', { exact: true }).waitFor()
    }
    await nodes.getByText('retention').waitFor()
    await page.getByText('Use PostgreSQL’s own tools').waitFor()
    expect(await hardToUse(page)).toEqual([])
    still.child.kill('SIGSTOP')
    // Its lease has to end first, and the page updates every 15 seconds.
    await rowOf(still)
      .getByText(/silent/)
      .waitFor({ timeout: 90_000 })
    await rowOf(answering).getByText('running', { exact: true }).waitFor()
  })
})
