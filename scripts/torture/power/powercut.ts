import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import type { Part } from '../parts.ts'
import { type Check, none, type Options, type Result } from '../result.ts'
import { cuts } from './cuts.ts'
import { Disk } from './disk.ts'
import { type AnswersByStep, type Point, pointsIn } from './points.ts'
import { type Answer, Promises } from './promises.ts'
import { missingForRecording, Recording } from './recording.ts'
import type { Step } from './trace.ts'
import { type Fault, faultKinds, faultsGoingOn, faultsIn, faultsResending } from './verdict.ts'
import { type History, liveThrough } from './workload.ts'

/** How much is recorded, and at how many points the power goes; one in so many is checked more thoroughly. */
const sizes = {
  short: { amount: { servers: 2, rounds: 24 }, points: 20, goOnEvery: 5, resendEvery: 10 },
  long: { amount: { servers: 4, rounds: 60 }, points: 1_000, goOnEvery: 5, resendEvery: 25 },
}

/** At how many points the power goes for a disk that is read as if the log was never synced. */
const controlPoints = 5

/**
 * Records what Cairn does to its files, and cuts the power at many points of it. Of what no sync has
 * covered, the disk then keeps nothing, everything, or parts.
 */
async function run({ isLong, seed }: Options): Promise<Result> {
  const size = isLong ? sizes.long : sizes.short
  const random = new SeededRandom(`powercut ${seed}`)
  const recording = await Recording.begin()
  let history: History
  let steps: Step[]
  try {
    history = await liveThrough(recording, size.amount)
    steps = await recording.end()
  } finally {
    recording.remove()
  }
  const answersByStep = answersIn(steps, history)
  const cutting = { root: recording.root, history, answersByStep }
  const points = pointsIn(steps, answersByStep, size.points, random)
  const found = await faultsAt(points, steps, { ...cutting, ...size })

  // The same, read as if the log was never synced, because a verdict that cannot fail is worth nothing.
  const isOfLog = (step: Step) => step.type === 'sync_ends' && step.path.endsWith('-wal')
  const unsynced = steps.map((step): Step => (isOfLog(step) ? { type: 'output', text: '' } : step))
  const last = [...answersByStep.keys()].filter(
    (_, i) => i % Math.ceil(answersByStep.size / controlPoints) === 1,
  )
  const strictest = last.map(
    (at): Point => ({ at: at + 1, cutName: 'all dropped', cut: cuts['all dropped'] }),
  )
  const control = await faultsAt(strictest, unsynced, cutting)

  const count = (test: (step: Step) => boolean) => steps.filter(test).length
  return {
    title: 'Power cut',
    checks: [
      { what: 'writes recorded', value: count(({ type }) => type === 'write') },
      { what: 'syncs', value: count(({ type }) => type === 'sync_ends') },
      { what: 'names made, moved, removed', value: count(isNaming) },
      { what: 'writes into the database itself (checkpoints)', value: count(isCheckpoint) },
      { what: 'column segments sealed', value: history.segments },
      {
        what: 'responses and outputs, each of which promises something',
        value: answersByStep.size,
      },
      { what: 'cut points', value: points.length },
      ...faultKinds.map((kind): Check => none(kind, found.filter(at => at.kind === kind).length)),
      {
        what: 'losses found when the log is read as never synced (must be some)',
        value: control.length,
        isOk: control.some(({ kind }) => kind === 'lost'),
      },
    ],
    notes: worstOf(found).map(({ point, faults }) => {
      const { kind, what } = faults[0]!
      const where = `step ${point.at} of ${steps.length}, ${point.cutName}`
      return `${where}: ${faults.length} faults, first ${kind}: ${what}`
    }),
  }
}

/** The first points at which something was wrong. */
const worstOf = (found: readonly FaultAt[]) =>
  Object.values(Object.groupBy(found, ({ point }) => `${point.at} ${point.cutName}`))
    .map(faults => ({ point: faults![0]!.point, faults: faults! }))
    .slice(0, 10)

const isNaming = ({ type }: Step) => ['create', 'mkdir', 'unlink', 'rename', 'link'].includes(type)

const isCheckpoint = (step: Step) => step.type === 'write' && step.path.endsWith('cairn.db')

/** What was promised, by the step at which the promise was given. */
function answersIn(steps: readonly Step[], { answers }: History): AnswersByStep {
  const answersByStep = new Map<number, Answer>()
  const byRequest = new Map(answers.map(answer => [answer.text, answer]))
  const commands = answers.filter(({ text }) => !text.startsWith('X-Request-Id'))
  for (const [at, step] of steps.entries()) {
    if (step.type !== 'output') continue
    const request = /X-Request-Id: \w+\r\n/.exec(step.text)?.[0]
    const next = commands[0]
    if (request) {
      const answer = byRequest.get(request)
      if (answer) answersByStep.set(at, answer)
    } else if (next && step.text.includes(next.text)) {
      answersByStep.set(at, next)
      commands.shift()
    }
  }
  if (answersByStep.size !== answers.length) {
    throw new Error(`The trace has ${answersByStep.size} of ${answers.length} answers`)
  }
  return answersByStep
}

/** What was wrong, and where the power went. */
type FaultAt = Fault & { point: Point }

interface Cutting {
  root: string
  history: History
  answersByStep: AnswersByStep
  goOnEvery?: number
  resendEvery?: number
}

async function faultsAt(
  points: readonly Point[],
  steps: readonly Step[],
  { root, history, answersByStep, goOnEvery, resendEvery }: Cutting,
): Promise<FaultAt[]> {
  const found: FaultAt[] = []
  const disk = new Disk()
  const promises = new Promises()
  let at = 0
  for (const [i, point] of points.entries()) {
    for (; at < point.at; at++) {
      disk.apply(steps[at]!)
      const answer = answersByStep.get(at)
      if (answer) promises.add(answer)
    }
    const folder = mkdtempSync(join(tmpdir(), 'cairn-powercut-'))
    try {
      lay(disk.after(point.cut(disk)), root, folder)
      const faults = await faultsIn(folder, promises, history.sent)
      const isMade = promises.has('organisation')
      if (!isMade || (goOnEvery && i % goOnEvery === 0)) {
        faults.push(...(await faultsGoingOn(folder, isMade)))
      }
      if (promises.has('version') && resendEvery && i % resendEvery === resendEvery - 1) {
        faults.push(...(await faultsResending(folder, history)))
      }
      found.push(...faults.map(fault => ({ ...fault, point })))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    if (points.length > 100 && i % 50 === 49) progress(`${i + 1} of ${points.length} points`)
  }
  return found
}

/** Writes what was found below the recorded directory. */
function lay(found: ReadonlyMap<string, Buffer | null>, root: string, folder: string): void {
  // A directory before what is in it.
  for (const [path, content] of [...found].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const place = join(folder, relative(root, path))
    if (content === null) mkdirSync(place, { recursive: true, mode: 0o700 })
    else writeFileSync(place, content, { mode: 0o600 })
  }
}

export const powercut: Part = {
  what: 'the power goes, and the disk keeps what was synced, or parts of the rest',
  missing: missingForRecording,
  run,
}
