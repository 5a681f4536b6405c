import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import type { Fingerprint } from '../../src/core/step/fingerprint.ts'
import type { HealthOutcome } from '../../src/core/step/health.ts'
import type { HealthReport } from '../../src/storage/shared/in-rows.ts'
import { openForWriting } from '../../src/storage/sqlite/database/database.ts'
import { StepTable } from '../../src/storage/sqlite/steps/step-table.ts'
import { CommandLine } from '../support/command-line.ts'

const cairn = new CommandLine()
afterAll(() => cairn.close())

const tour = `key: tour
steps:
  - { key: hello, kind: modal, title: Hello }
  - { key: well, title: Well, target: { selector: "#well" } }
  - { key: away, title: Away, target: { selector: "#away" } }
  - { key: moved, title: Moved, target: { selector: "#moved" } }
  - { key: quiet, title: Quiet, target: { selector: "#quiet" } }
`

/** Stores what pages would report. `place` finds a step's row by its key. */
function store(work: (steps: StepTable, place: (slug: string, key: string) => Place) => void) {
  const database = openForWriting(cairn.path('cairn-data'))
  const place = database.query<Place, [string, string]>(
    `select o.id as orgRow, s.id as stepRow from steps s join flows f on f.id = s.flow_id
    join organisations o on o.id = f.org_id where o.slug = ? and s.key = ?`,
  )
  work(new StepTable(database), (slug, key) => place.get(slug, key) as Place)
  database.close()
}
type Place = Pick<HealthReport, 'orgRow' | 'stepRow'>

const report = (
  place: Place,
  person: string,
  outcome: HealthOutcome,
  message: string | null = null,
) => ({
  ...place,
  version: 1,
  person: `u${person}`,
  outcome,
  at: Date.now() - 60_000,
  url: 'https://app.example/projects?token=secret',
  selector: outcome === 'found_by_alternate' ? '#moved-here' : null,
  matchCount: null,
  waitMs: null,
  snippetVersion: null,
  message,
})

const fingerprint = (place: Place, selector: string | null) => ({
  ...place,
  version: 1,
  isCurrent: true,
  target: '{}',
  fingerprint: selector === null ? null : print(selector),
  candidates: selector === null ? [print('#gone-away')] : [],
  at: Date.now() - 60_000,
  url: null,
  locale: null,
  snippetVersion: null,
})
const print = (selector: string) => ({ selector, matchCount: 1, tag: 'button', text: 'Go' })

beforeAll(async () => {
  writeFileSync(cairn.path('tour.yaml'), tour)
  for (const slug of ['acme', 'other']) {
    await cairn.json(['org', 'create', slug])
    await cairn.json(['flows', 'push', 'tour.yaml', '--org', slug])
    await cairn.json(['flows', 'publish', 'tour', '--org', slug])
  }
  store((steps, place) => {
    const [well, away, moved] = ['well', 'away', 'moved'].map(key => place('acme', key))
    for (let i = 0; i < 6; i++) {
      steps.recordHealth(report(well!, `ann${i}`, 'found'))
      steps.recordHealth(report(away!, `ann${i}`, 'not_found', '\u001b[31mnot there'))
      steps.recordHealth(report(moved!, `ann${i}`, 'found_by_alternate'))
      steps.recordHealth(report(place('other', 'well'), `ann${i}`, 'found'))
    }
    steps.recordFingerprint(fingerprint(away!, '#away'))
    steps.recordFingerprint(fingerprint(away!, null))
  })
})

const check = (...args: string[]) => cairn.run(['steps', 'check', ...args])

describe('steps check', () => {
  test('is a table of the steps that point at an element, with status 1 if one is bad', async () => {
    const { stdout, stderr, status } = await check('--org', 'acme')
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
    const [header, ...rows] = stdout.split('\n\n')[0]!.split('\n')
    expect(header).toMatch(/^STEP +STATE +PEOPLE +FOUND +BY FALLBACK +MISSED +SINCE$/)
    expect(rows.map(row => row.split(/ +/).slice(0, 6).join(' '))).toEqual([
      'tour/well healthy 6 6 0 0',
      'tour/away broken 6 0 0 6',
      'tour/moved drifting 6 0 6 0',
      'tour/quiet unknown 0 0 0 0',
    ])
    expect(stdout).toEndWith(
      '4 steps of acme: 1 healthy, 1 drifting, 1 broken, 1 unknown (fewer than 5 people in 24 hours)\n',
    )
  })

  test('says for a bad step on which pages, what they reported, and what to do', async () => {
    const { stdout } = await check('--org', 'acme')
    expect(stdout).toContain('tour/away is broken\n')
    expect(stdout).toContain(
      'https://app.example/projects: 6 missed, 0 by fallback, of 6 reports\n',
    )
    expect(stdout).toContain('[31mnot there (6 times, last ')
    expect(stdout).toContain(
      'pages find it with `#gone-away`: "cairn steps repair tour away --org acme" puts that into the draft\n',
    )
    expect(stdout).toContain('pages find it with `#moved-here`: ')
    expect(stdout).not.toContain('tour/well is')
  })

  test('ends with status 0 if no step is bad, and unknown is not bad', async () => {
    const { stdout, status } = await check('--org', 'other')
    expect(status).toBe(0)
    expect(stdout).toContain('4 steps of other: 1 healthy, 3 unknown')
  })

  test('a flow that is not published is a mistake, not a clean bill', async () => {
    const { stderr, status } = await check('--flow', 'tuor', '--org', 'other')
    expect(status).toBe(1)
    expect(stderr).toContain('see "cairn flows list"')
    expect((await check('--flow', 'tour', '--org', 'other')).status).toBe(0)
  })

  test('a step whose element changed, though people find it, is a warning with status 0', async () => {
    store((steps, place) => {
      const quiet = place('other', 'quiet')
      steps.recordFingerprint(fingerprint(quiet, '#quiet'))
      steps.recordFingerprint({
        ...fingerprint(quiet, '#quiet'),
        fingerprint: { ...print('#quiet'), text: 'Stop' },
      })
    })
    const { stdout, status } = await check('--org', 'other')
    expect(status).toBe(0)
    expect(stdout).toContain('tour/quiet is unknown, but its element changed or is missing')
  })
})

describe('steps pin', () => {
  const seen = {
    selector: '#go',
    matchCount: 1,
    tag: 'button',
    role: 'button',
    id: 'go',
    text: 'Go, Ann',
    name: 'Go, Ann',
    ancestors: [{ tag: 'form', id: '\u001b[31mred' }],
  }
  const meant = (selector: string) =>
    JSON.stringify({
      selector,
      text: null,
      nth: null,
      waitMs: 3000,
      required: true,
      onMissing: 'skip',
    })
  const looked = (place: Place, selector: string, print: Fingerprint) => ({
    ...fingerprint(place, null),
    target: meant(selector),
    fingerprint: print,
    locale: 'en',
  })
  const pin = (...args: string[]) => cairn.run(['steps', 'pin', '--org', 'pinning', ...args])

  beforeAll(async () => {
    await cairn.json(['org', 'create', 'pinning'])
    const { status } = await cairn.run([
      ...['flows', 'push', 'tour.yaml', '--publish', '--org', 'pinning'],
    ])
    expect(status).toBe(0)
    store((steps, place) => {
      steps.recordFingerprint(looked(place('pinning', 'well'), '#well', seen))
      steps.recordFingerprint(looked(place('pinning', 'well'), '#well', seen))
      steps.recordFingerprint(looked(place('pinning', 'away'), '#another', seen))
      steps.recordFingerprint(
        looked(place('pinning', 'moved'), '#moved', { matchCount: 1, tag: 'div' }),
      )
    })
  })

  test('--dry-run shows what would be taken over, and changes nothing', async () => {
    const { stdout, stderr, status } = await pin('--dry-run')
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    expect(stdout).toContain('tour/well: would be pinned\n')
    expect(stdout).toContain('; 1 of 1 report in 24 hours alike\n')
    expect(stdout).toContain('tour/away: not pinned: no page has reported')
    expect(stdout).toContain('tour/moved: not pinned: its snapshot is not specific')
    expect(stdout).toContain('tour/quiet: not pinned: no page has reported')
    expect(stdout).toContain('Would pin 1 step of 4. Run it without --dry-run')
    expect(stdout).not.toMatch(/Ann|\u001b/)
    const { stdout: pulled } = await cairn.run(['flows', 'pull', 'tour', '--org', 'pinning'])
    expect(pulled).not.toContain('fingerprint')
  })

  test('writes the draft, and says what to do next; a second time changes nothing', async () => {
    const { stdout, status } = await pin('--flow', 'tour', '--step', 'well')
    expect(status).toBe(0)
    expect(stdout).toContain('tour/well: pinned\n')
    expect(stdout).toContain('"cairn flows publish tour --org pinning" shows it to visitors')
    const { stdout: pulled } = await cairn.run(['flows', 'pull', 'tour', '--org', 'pinning'])
    expect(pulled).toContain('textHash: ')
    expect(pulled).not.toContain('Ann')
    const published = ['flows', 'pull', 'tour', '--published', '--org', 'pinning']
    expect((await cairn.run(published)).stdout).not.toContain('fingerprint')
    expect((await pin('--flow', 'tour', '--step', 'well')).stdout).toContain(
      'tour/well: already pinned',
    )
    await cairn.json(['flows', 'publish', 'tour', '--org', 'pinning'])
    const { stdout: json } = await pin('--step', 'well', '--flow', 'tour', '--json')
    const { steps } = JSON.parse(json)
    expect(steps).toEqual([
      expect.objectContaining({ flow: 'tour', step: 'well', outcome: 'already pinned' }),
    ])
  })

  test('pins nothing if the draft points at another element', async () => {
    writeFileSync(cairn.path('other.yaml'), tour.replace('"#well"', '"#better"'))
    await cairn.json(['flows', 'push', 'other.yaml', '--org', 'pinning'])
    const { stdout, status } = await pin('--flow', 'tour', '--step', 'well')
    expect(status).toBe(1)
    expect(stdout).toContain('its draft points at another element')
  })

  test('a step that is not there is a mistake', async () => {
    expect((await pin('--flow', 'tour', '--step', 'hello')).stderr).toContain('no published step')
    expect((await pin('--step', 'well')).status).toBe(2)
  })

  test('steps check says where a pin would help', async () => {
    store((steps, place) => {
      for (let i = 0; i < 6; i++) {
        for (const key of ['moved', 'quiet']) {
          const told = report(place('pinning', key), `ann${i}`, 'not_found')
          steps.recordHealth({ ...told, version: 2 })
        }
      }
      steps.recordFingerprint(looked(place('pinning', 'quiet'), '#quiet', seen))
    })
    const { stdout } = await check('--org', 'pinning')
    expect(stdout).toContain(
      '"cairn steps pin --flow tour --step quiet --org pinning" lets pages find it by its snapshot',
    )
    expect(stdout).not.toContain('--step moved')
  })
})

describe('steps repair', () => {
  const repair = (...args: string[]) =>
    cairn.run(['steps', 'repair', 'tour', ...args, '--org', 'repairing'])

  beforeAll(async () => {
    await cairn.json(['org', 'create', 'repairing'])
    const push = ['flows', 'push', 'tour.yaml', '--publish', '--org', 'repairing']
    expect((await cairn.run(push)).status).toBe(0)
  })

  test('puts what pages suggest into the draft, and says what to do next; a repeat changes nothing', async () => {
    const { status, stderr } = await repair('moved')
    expect(status).toBe(1)
    expect(stderr).toContain('pages suggest no other selector for this step: send one (--selector)')
    store((steps, place) =>
      steps.recordHealth(report(place('repairing', 'moved'), 'ann', 'found_by_alternate')),
    )
    const { stdout } = await repair('moved')
    expect(stdout).toContain(
      'Changed the selector of tour/moved from `#moved` to `#moved-here` in the draft.',
    )
    expect(stdout).toContain('"cairn flows publish tour --org repairing" shows it to visitors')
    expect((await repair('moved')).stdout).toContain('already has the selector `#moved-here`')
  })

  test('takes the selector that is given', async () => {
    const { stdout } = await repair('well', '--selector', '.better', '--note', 'Moved', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'repaired', selector: '.better' })
    expect((await repair('well', '--selector', 'div[')).stderr).toContain('/selector')
    expect((await repair('nothing', '--selector', '#a')).stderr).toContain('no step of this key')
    const [line] = await cairn.json(['audit', '--org', 'repairing'])
    expect(line).toMatchObject({ action: 'flow.repair', subject: 'tour', note: 'Moved' })
  })
})
