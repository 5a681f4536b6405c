import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { apiOf, builtBinary, tourFile } from '../support/binary.ts'
import { Cluster, type ClusterNode, describe } from '../support/cluster.ts'

/** A node that does not know of the last change yet, and how that is reported. */

describe('a node among others', () => {
  let cluster: Cluster
  let snippetKey = ''
  let token = ''
  beforeAll(async () => {
    cluster = await Cluster.open({ program: await builtBinary() })
    snippetKey = JSON.parse(await cluster.succeeded(['org', 'create', 'Acme', '--json'])).snippetKey
    const create = ['token', 'create', 'CI', '--scope', 'flows:publish', '--json']
    token = JSON.parse(await cluster.succeeded(create)).token
    await Bun.write(join(cluster.folder, 'tour.yaml'), tourFile)
    await cluster.serve(2)
  }, 300_000)
  afterAll(async () => {
    for (const { child } of cluster?.nodes ?? []) child.kill('SIGCONT')
    await cluster?.close()
  }, 300_000)

  test('that stands still is named after a change, and shows nothing old once it goes on', async () => {
    const [awake, still] = cluster.nodes as [ClusterNode, ClusterNode]
    const shownBy = async (node: ClusterNode) => {
      const answer = await apiOf(node, snippetKey)('GET', '/flows')
      return answer.ok
        ? ((await answer.json()) as { flows: unknown[] }).flows.length
        : answer.status
    }
    const unpublish = async () => {
      const answer = await apiOf(awake, token)('POST', '/manage/flows/tour/unpublish', {})
      expect(answer.status).toBe(200)
      return answer.headers.get('cairn-nodes-behind')
    }
    expect(await shownBy(still)).toBe(0)
    still.child.kill('SIGSTOP')
    const pushed = await cluster.run(['flows', 'push', 'tour.yaml', '--publish'])
    const name = expect.stringMatching(new RegExp(`:${still.port}$`))
    const [, warned] = /may use the old version for up to 45 seconds: (\S+)\n/.exec(pushed.stderr)!
    expect([pushed.status, warned]).toEqual([0, name])
    expect(await unpublish()).toEqual(name)
    const { stdout } = await cluster.run(['nodes', '--json'])
    const { nodes } = JSON.parse(stdout) as { nodes: { name: string; state: string }[] }
    expect(nodes.filter(({ state }) => state !== 'running')).toMatchObject([{ name }])

    await cluster.succeeded(['flows', 'publish', 'tour'])
    still.child.kill('SIGCONT')
    await until(async () => (await shownBy(still)) === 1)
    expect(await unpublish()).toBeNull()
    expect(await shownBy(still)).toBe(0)
  })
})
