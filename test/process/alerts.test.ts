import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import type { DeliveryList, WebhookWithSecret } from '../../src/modules/alerts/schema.ts'
import { type Server, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { MailServer } from '../support/mail-server.ts'
import { prepared } from '../support/prepared.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

/** Alerts sent by the executable: messages are signed, they arrive once stored, and mail goes by SMTP. */

/** A data directory with an organisation and a published flow. */
const withData = prepared(withTour)

const place = new CommandLine()
let receiver: WebhookReceiver
let server: Server
const smtp = new MailServer()
let env: Record<string, string>

beforeAll(async () => {
  receiver = new WebhookReceiver()
  env = { CAIRN_WEBHOOKS_PRIVATE: 'on', ...(await smtp.listen()) }
  await withData(place)
  server = await place.serve([], env)
})

afterAll(async () => {
  await place.close()
  await receiver.close()
  await smtp.close()
})

const added = () => place.json<WebhookWithSecret>(['alerts', 'webhook', 'add', receiver.url])
const removed = (id: string) => place.run(['alerts', 'webhook', 'remove', id])
const deliveriesOf = (id: string) =>
  place.json<DeliveryList['deliveries']>(['alerts', 'webhook', 'deliveries', id])

test('a test message arrives, signed, and carries no personal data', async () => {
  const { id, secret } = await added()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const { status, stdout } = await place.run(['alerts', 'webhook', 'test', id])
  expect([status, stdout]).toEqual([0, 'The message arrived: status 204.\n'])
  const got = receiver.received.at(-1)!
  WebhookReceiver.verify(got, secret)
  expect(got.message).toMatchObject({
    type: 'webhook.test',
    data: { organisation: 'acme', url: 'https://cairn.example.com/dashboard/acme/settings/alerts' },
  })
  expect(got.text).not.toContain(secret)
  expect(await place.json(['alerts', 'webhook', 'list'])).not.toContainEqual(
    expect.objectContaining({ secret: expect.anything() }),
  )

  const rotated = await place.json<WebhookWithSecret>(['alerts', 'webhook', 'rotate', id])
  await place.run(['alerts', 'webhook', 'test', id])
  const second = receiver.received.at(-1)!
  expect(second.signatures).toHaveLength(2)
  WebhookReceiver.verify(second, secret)
  WebhookReceiver.verify(second, rotated.secret)
  await removed(id)
})

test('a stored message is sent even if the server is killed, under the same id', async () => {
  const { id, secret } = await added()
  const before = receiver.received.length
  receiver.answer = () => null
  const sent = await place.run(['alerts', 'report', '--send'])
  expect(sent.stderr).toContain('Queued for 1 webhooks and mail addresses')
  const first = await receiver.at(before)
  await server.end('SIGKILL')
  receiver.answer = () => new Response(null, { status: 204 })
  server = await place.serve([], env)
  const second = await receiver.at(before + 1)
  expect([second.id, second.text]).toEqual([first.id, first.text])
  WebhookReceiver.verify(second, secret)
  expect(second.message).toMatchObject({
    type: 'report.weekly',
    data: {
      organisation: { slug: 'acme' },
      flows: [{ key: 'tour', starts: 0 }],
    },
  })
  await until(async () => (await deliveriesOf(id))[0]?.state === 'delivered')

  await place.run(['alerts', 'webhook', 'replay', id, first.id])
  const replayed = await receiver.at(before + 2)
  expect([replayed.id, replayed.text]).toEqual([first.id, first.text])
  await removed(id)
})

test('a server that stops does not wait for a receiver that never answers', async () => {
  const { id } = await added()
  const before = receiver.received.length
  receiver.answer = () => null
  await place.run(['alerts', 'report', '--send'])
  await receiver.at(before)
  expect(await server.end()).toBe(0)
  receiver.answer = () => new Response(null, { status: 204 })
  server = await place.serve([], env)
  await receiver.at(before + 1)
  await removed(id)
})

test('the report goes out by mail as plain text, to whoever has confirmed', async () => {
  await place.run(['alerts', 'set', 'report.on', 'true'])
  await place.run(['alerts', 'set', 'report.mails', 'team@example.com'])
  const settings = async () => (await place.run(['alerts', 'settings'])).stdout
  expect(await settings()).toContain('team@example.com waiting')
  const confirm = MailServer.pathIn(await smtp.at(0), 'confirm')
  const page = await fetch(server.url + confirm)
  expect([page.status, await page.text()]).toEqual([
    200,
    expect.stringContaining('Confirm</button>'),
  ])
  await fetch(server.url + confirm, { method: 'POST' })
  expect(await settings()).toContain('team@example.com confirmed')
  const { status } = await place.run(['alerts', 'report', '--send'])
  expect(status).toBe(0)
  const mail = await smtp.at(1)
  expect(mail).toContain('From: Cairn <cairn@example.com>')
  expect(mail).toContain('To: team@example.com')
  expect(mail).toContain('Content-Type: text/plain')
  expect(mail).not.toContain('text/html')
  expect(mail).toMatch(/Message-ID: <msg_\w{18}@example\.com>/)
  const unsubscribe = MailServer.pathIn(mail, 'unsubscribe')
  // Folded, as it is long.
  expect(mail.replaceAll('\r\n ', ' ')).toContain(
    `List-Unsubscribe: <https://cairn.example.com${unsubscribe}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`,
  )
  const list = ['alerts', 'mails']
  await until(async () => {
    const [newest] = await place.json<DeliveryList['deliveries']>(list)
    return newest?.state === 'delivered'
  })
  expect(smtp.mails).toHaveLength(2)
  const oneClick = {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  }
  expect((await fetch(server.url + unsubscribe, oneClick)).status).toBe(200)
  expect(await settings()).not.toContain('team@example.com')
  for (const token of [confirm, unsubscribe].map(path => path.split('/').at(-1)!)) {
    expect(server.stdout + server.stderr).not.toContain(token)
  }
})

test('the password of the mail server appears in no output', async () => {
  const url = 'smtp://cairn:hidden-word@127.0.0.1:1'
  const shown = await place.run(['doctor'], { CAIRN_SMTP_URL: url, CAIRN_MAIL_FROM: 'a@b.c' })
  expect(shown.stdout + shown.stderr).not.toContain('hidden-word')
  const wrong = await place.run(['serve'], { CAIRN_SMTP_URL: 'imap://cairn:hidden-word@x' })
  expect(wrong.status).not.toBe(0)
  expect(wrong.stderr).not.toContain('hidden-word')
})

test('a receiver is reached only if its certificate is for its name', async () => {
  const [key, cert] = [place.path('key.pem'), place.path('cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'],
    ...['-keyout', key, '-out', cert, ...subject],
  ])
  expect(made.exitCode).toBe(0)
  const hosts: string[] = []
  const secure = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key: Bun.file(key), cert: Bun.file(cert) },
    fetch(request) {
      hosts.push(request.headers.get('host')!)
      return new Response(null, { status: 204 })
    },
  })
  await using other = new CommandLine()
  await withData(other)
  await other.serve([], { ...env, NODE_EXTRA_CA_CERTS: cert })
  const outcomeAt = async (host: string) => {
    const url = `https://${host}:${secure.port}/`
    const { id } = await other.json<{ id: string }>(['alerts', 'webhook', 'add', url])
    const { status, stderr } = await other.run(['alerts', 'webhook', 'test', id])
    return [status, stderr]
  }
  expect(await outcomeAt('localhost')).toEqual([0, ''])
  expect(hosts).toEqual([`localhost:${secure.port}`])
  const [status, stderr] = await outcomeAt('127.0.0.1')
  expect([status, stderr]).toEqual([1, expect.stringContaining('The certificate is invalid')])
  expect(hosts).toHaveLength(1)
  await secure.stop(true)
})
