import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'

/** Members from the command line, as the operator. */

const cairn = new CommandLine()
afterAll(() => cairn.close())
beforeAll(() => cairn.json(['org', 'create', 'Acme']))

test('an invitation is a link that is printed alone, for the address of the server', async () => {
  const invite = ['members', 'invite', 'editor', '--name', 'Ben']
  const local = await cairn.run(invite)
  expect(local.stdout).toMatch(/^http:\/\/localhost:8080\/dashboard\/sign-in#[\w-]{43}\n$/)
  expect(local.stderr).toContain('Created an invitation for Ben as editor')
  const elsewhere = await cairn.run([...invite, '--public-url', 'https://cairn.example'])
  expect(elsewhere.stdout).toStartWith('https://cairn.example/dashboard/sign-in#')
  expect((await cairn.run(['members', 'invite', 'operator'])).status).not.toBe(0)
})

test('without members, the list says what to do; a member who is not there is an error', async () => {
  expect((await cairn.run(['members', 'list'])).stdout).toContain('cairn members invite')
  for (const command of ['role member_x editor', 'remove member_x', 'link member_x']) {
    const { status, stderr } = await cairn.run(['members', ...command.split(' ')])
    expect([command, status, stderr]).toEqual([command, 1, 'cairn: member not found.\n'])
  }
})

test('who runs a command is in the audit log by their name, also without USER in the environment', async () => {
  const [line] = await cairn.json<{ actor: string }[]>(['audit'])
  const { stdout } = Bun.spawnSync(['id', '--user', '--name'])
  expect(line!.actor).toBe(`${stdout}`.trim())
})
