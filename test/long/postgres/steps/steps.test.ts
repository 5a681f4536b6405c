import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect } from 'bun:test'
import fc from 'fast-check'
import { allowedFingerprint } from '../../../../src/core/step/fingerprint-parts.ts'
import { healthOutcomes } from '../../../../src/core/step/health.ts'
import { Postgres } from '../../../../src/storage/postgres/database/connection.ts'
import { migratePostgres } from '../../../../src/storage/postgres/database/migrate.ts'
import { stepReaderOver } from '../../../../src/storage/postgres/steps/step-reader.ts'
import {
  deleteOldFingerprints,
  deleteOldReports,
  recordFingerprint,
  recordHealth,
} from '../../../../src/storage/postgres/steps/step-table.ts'
import type { FingerprintReport, HealthReport } from '../../../../src/storage/shared/in-rows.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import {
  fingerprintArrivals,
  stepReportArrivals,
} from '../../../../src/storage/sqlite/retention/arrivals.ts'
import { StepReader } from '../../../../src/storage/sqlite/steps/step-reader.ts'
import { StepTable } from '../../../../src/storage/sqlite/steps/step-table.ts'
import { describe, PostgresServer, test } from '../../../support/postgres.ts'

const hour = 3_600_000
const now = Date.UTC(2026, 10, 20, 9, 30)

describe('steps in PostgreSQL', () => {
  let server: PostgresServer
  let postgres: Postgres
  let sqlite: Database
  beforeAll(async () => {
    server = await PostgresServer.open()
    // Texts sort differently from their bytes here, as they may for an operator.
    const url = await server.emptyDatabase(
      `template template0 locale_provider icu icu_locale 'en' locale 'C'`,
    )
    postgres = Postgres.open(url, { most: 4 })
    await migratePostgres(postgres, now)
    sqlite = new Database(':memory:', { strict: true })
    migrate(sqlite, now)
  })
  afterAll(async () => {
    sqlite?.close()
    await postgres?.close(true)
    await server?.close()
  })

  /** Each run has organisations of its own. */
  let organisations = 0

  const text = fc.constantFrom('a', 'B', 'b', 'ä', 'Z', '\u{1f600}', '\ufffd')
  const minutesAgo = fc.oneof(fc.nat({ max: 24 * 60 }), fc.nat({ max: 8 * 24 * 60 }))
  const time = minutesAgo.map(minutes => now - minutes * 60_000)
  const place = {
    orgRow: fc.nat({ max: 1 }),
    stepRow: fc.integer({ min: 1, max: 2 }),
    version: fc.integer({ min: 1, max: 2 }),
    at: time,
    snippetVersion: fc.option(text),
  }
  const anyUrl = fc
    .tuple(text, fc.constantFrom('', '?x#y', '#y?x', '#'))
    .map(([path, rest]) => `https://app.example/${path}${rest}`)
  const report: fc.Arbitrary<HealthReport> = fc.record({
    ...place,
    person: fc.option(fc.constantFrom('uann', 'uben', 'acat')),
    outcome: fc.constantFrom(...healthOutcomes),
    url: fc.option(anyUrl),
    selector: fc.option(text),
    matchCount: fc.option(fc.nat({ max: 3 })),
    waitMs: fc.option(fc.nat({ max: 3_000 })),
    message: fc.option(text),
  })
  const print = fc
    .record({
      selector: fc.oneof(text, fc.constant('#a\0b')),
      matchCount: fc.nat({ max: 2 }),
      tag: fc.constantFrom('input', 'button'),
      id: fc.constantFrom('search', 'query'),
      name: text,
    })
    .map(raw => allowedFingerprint({ ...raw, attributes: {} } as never))
  const look: fc.Arbitrary<FingerprintReport> = fc.record({
    ...place,
    isCurrent: fc.boolean(),
    target: fc.option(fc.constantFrom('{"selector":"#a"}', '{"selector":"#b"}')),
    fingerprint: fc.option(print),
    candidates: fc.array(print, { maxLength: 2 }),
    url: fc.option(anyUrl),
    locale: fc.option(fc.constantFrom('en', 'de')),
  })

  const rows = async (table: string, order: string) => {
    const sql = `select * from ${table} where org_id in (${organisations}, ${organisations + 1})`
    const ofPostgres = await postgres.all<object>(`${sql} order by ${order}`)
    // Without places in the order of arrival, which the two number differently.
    const plain = (all: object[]) => all.map(row => ({ ...row, seq: undefined }))
    const collated = order.replaceAll('collate "C"', '')
    return [plain(ofPostgres), plain(sqlite.query<object, []>(`${sql} order by ${collated}`).all())]
  }

  async function alike(table: string, order: string): Promise<void> {
    const [ofPostgres, ofSqlite] = await rows(table, order)
    expect(ofPostgres).toEqual(ofSqlite!)
  }

  const inBoth = () => [stepReaderOver(postgres), new StepReader(sqlite)] as const

  test('give the same answers as in SQLite, whatever was reported', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(report, { size: 'max', maxLength: 40 }), { size: 'max', maxLength: 10 }),
        fc.array(look, { size: 'max', maxLength: 60 }),
        async (groups, looks) => {
          organisations += 2
          const table = new StepTable(sqlite)
          const own = <Of extends { orgRow: number }>(of: Of): Of => ({
            ...of,
            orgRow: organisations + of.orgRow,
          })
          for (const group of groups) {
            await postgres.begin(tx => recordHealth(tx, ...group.map(own)))
            for (const one of group) table.recordHealth(own(one))
          }
          for (const one of looks) {
            const verdict = await postgres.begin(tx => recordFingerprint(tx, own(one)))
            expect(verdict).toEqual(table.recordFingerprint(own(one)))
          }
          await alike('step_reports', 'seq')
          await alike('step_health', 'org_id, step_id, version, person collate "C"')
          await alike('step_baselines', 'org_id, step_id')
          const [here, there] = inBoth()
          // A suggestion comes from a page, and may contain what PostgreSQL does not take.
          const clean = (told: unknown) =>
            JSON.parse(JSON.stringify(told).replaceAll('\\u0000', '\ufffd'))
          for (const [orgRow, stepRow, version] of [
            [organisations, 1, 1],
            [organisations, 2, 2],
            [organisations + 1, 1, 2],
          ] as const) {
            const told = await there.evidence(orgRow, stepRow, version, now)
            const toldHere = await here.evidence(orgRow, stepRow, version, now)
            expect(clean(toldHere)).toEqual(clean(told))
            const between = [orgRow, stepRow, now - 30 * hour, now - 2 * hour] as const
            expect(await here.between(...between)).toEqual(await there.between(...between))
            expect(await here.baseline(orgRow, stepRow)).toEqual(
              await there.baseline(orgRow, stepRow),
            )
            const since = [orgRow, stepRow, now - 24 * hour, version] as const
            expect(clean(await here.suggested(...since))).toEqual(
              clean(await there.suggested(...since)),
            )
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  test('are deleted as in SQLite once they have been kept long enough', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(report, { maxLength: 30 }),
        fc.array(look, { maxLength: 10 }),
        async (reports, looks) => {
          organisations += 2
          const orgRow = organisations
          const before = now - 24 * hour
          const table = new StepTable(sqlite)
          for (const one of reports) table.recordHealth({ ...one, orgRow })
          await recordHealth(postgres, ...reports.map(one => ({ ...one, orgRow })))
          for (const one of looks) {
            table.recordFingerprint({ ...one, orgRow })
            await recordFingerprint(postgres, { ...one, orgRow })
          }
          for (const arrivals of [stepReportArrivals(sqlite), fingerprintArrivals(sqlite)]) {
            for (const row of arrivals.after(0, 1_000_000)) {
              if (row.orgRow === orgRow && row.receivedAt < before) arrivals.delete(row)
            }
          }
          for (const remove of [deleteOldReports, deleteOldFingerprints]) {
            while ((await remove(postgres, orgRow, before, 4)) === 4);
          }
          await alike('step_reports', 'seq')
          await alike('step_health', 'org_id, step_id, version, person collate "C"')
          const [kept, expected] = await rows('step_fingerprints', 'seq')
          expect(kept!).toHaveLength(expected!.length)
          await alike('step_baselines', 'org_id, step_id')
        },
      ),
      { numRuns: 12 },
    )
  })
})
