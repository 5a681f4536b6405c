import { expect, test } from 'bun:test'
import { readConfig } from '../../src/config/read-config.ts'
import type { Config } from '../../src/config/settings.ts'
import { reloadOf } from '../../src/runtime/reload.ts'

const configOf = (env: Record<string, string> = {}): Config => readConfig({ env }).config

test('settings that can change while serving are taken up, and the rest wait for a restart', () => {
  const requested = configOf({ CAIRN_PORT: '0' })
  // The port that the server chose for 0 is no change.
  const running = { ...requested, port: 40_000 }
  const next = configOf({
    CAIRN_PORT: '0',
    CAIRN_LOG_LEVEL: 'debug',
    CAIRN_RETENTION_DAYS: '30',
    CAIRN_SESSION_SECRET: 'x'.repeat(32),
    CAIRN_BUFFER_EVENTS: '700',
    CAIRN_ACK: 'buffer',
    CAIRN_KEY_GRACE_HOURS: '1',
  })
  const { config, changed, waiting } = reloadOf(running, requested, next)
  expect(changed).toEqual(['CAIRN_RETENTION_DAYS', 'CAIRN_SESSION_SECRET', 'CAIRN_LOG_LEVEL'])
  expect(waiting).toEqual(['CAIRN_ACK', 'CAIRN_BUFFER_EVENTS'])
  expect(config).toEqual({
    ...running,
    logLevel: 'debug',
    retentionDays: 30,
    sessionSecret: 'x'.repeat(32),
  })
})

test('the same settings change nothing', () => {
  const config = configOf()
  expect(reloadOf(config, config, configOf())).toEqual({ config, changed: [], waiting: [] })
})
