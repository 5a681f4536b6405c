import { AppError, invalid } from '../core/errors.ts'
import type { FlowTask, FlowTaskInput, FlowTaskResult, FlowWork } from '../core/flow/work.ts'
import { reasonOfUncaught } from '../core/reason.ts'
import type { OrganisationRef } from '../core/reference.ts'
import { Semaphore } from '../scheduling/cooperative.ts'
import type { FlowTaskStart } from './flow-thread.ts'
import { keptThread } from './threads.ts'

/** Far longer than the largest flow takes, also where little of the machine is left for it. */
const maxMs = 15_000
/** How many tasks may wait. Each takes at most a second, and callers do not wait longer than a minute. */
const maxWaiting = 60

/**
 * Does tasks in a thread that is made for the first of them and kept. Only one task of each organisation waits
 * beside those of others, so none can keep the thread to itself.
 */
export class FlowWorker {
  private thread: Worker | null = null
  private readonly turns = new Semaphore(1)
  private readonly lanes = new Map<OrganisationRef, { turns: Semaphore; tasks: number }>()
  private tasks = 0

  constructor(
    private readonly most: { ms: number; waiting: number } = {
      ms: maxMs,
      waiting: maxWaiting,
    },
  ) {}

  /** @throws AppError `overloaded`; `validation_failed` if the task takes too long */
  readonly work: FlowWork = async (organisation, task, ...input) => {
    if (this.tasks > this.most.waiting) {
      throw new AppError('overloaded', 'Too many flows are waiting to be checked; try again', {
        retryAfterSeconds: 1,
      })
    }
    const lane = this.lanes.get(organisation) ?? { turns: new Semaphore(1), tasks: 0 }
    this.lanes.set(organisation, lane)
    this.tasks++
    lane.tasks++
    try {
      return await lane.turns.take(() => this.turns.take(() => this.done(task, input)))
    } finally {
      this.tasks--
      if (--lane.tasks === 0) this.lanes.delete(organisation)
    }
  }

  /** A thread that fails, or takes too long, is given up, and the next task gets another. */
  private async done<Task extends FlowTask>(
    task: Task,
    input: FlowTaskInput<Task>,
  ): Promise<FlowTaskResult<Task>> {
    this.thread ??= keptThread('flow-thread')
    const { thread } = this
    const { promise, resolve, reject } = Promise.withResolvers<FlowTaskResult<Task>>()
    thread.onmessage = ({ data }) => resolve(data)
    thread.onerror = event => {
      event.preventDefault?.()
      reject(new Error(`the flow thread has failed: ${reasonOfUncaught(event.message)}`))
    }
    const timer = setTimeout(() => {
      const message = 'Takes too long to check: make it smaller, or split it'
      reject(invalid({ path: '', message }))
    }, this.most.ms)
    thread.postMessage({ task, input } as FlowTaskStart)
    try {
      return await promise
    } catch (error) {
      this.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.thread?.terminate()
    this.thread = null
  }
}
