import type { OrganisationRef } from '../reference.ts'
import { flowDifference, newFlowDifference } from './difference.ts'
import { readFlowFile } from './file.ts'
import { pageFlow } from './forms.ts'
import { storedFlowErrors } from './lint.ts'
import { flowText } from './text.ts'

/**
 * Work on flows that takes up to a second for the largest of them, which is too long for a thread that answers
 * requests. It is pure, and takes and returns plain data, so that another thread can do it.
 */
export const flowTasks = {
  /** Checks a flow file. @param options.shownAt when pages would get its flows; they are left out without it */
  judge(
    text: string,
    { shownAt, ...options }: Parameters<typeof readFlowFile>[1] & { shownAt?: number } = {},
  ) {
    const { flows, problems } = readFlowFile(text, options)
    if (shownAt === undefined) return { flows, problems, pages: null }
    const version = { version: 1, publishedAt: shownAt }
    return { flows, problems, pages: flows.map(definition => pageFlow({ ...version, definition })) }
  },
  /** Reads one flow, as JSON, by the rules of flow files. */
  define(json: string) {
    // Wrapped in a list, so that the flow itself cannot be a list.
    const { flows, problems } = readFlowFile(`[${json}]`, { format: 'json' })
    const errors = problems
      .filter(({ severity }) => severity === 'error')
      .map(({ path, message }) => ({ path: path.slice(2), message }))
    return { definition: flows[0] ?? null, errors }
  },
  storedFlowErrors,
  flowDifference,
  newFlowDifference,
  flowText,
}

type FlowTasks = typeof flowTasks
export type FlowTask = keyof FlowTasks
export type FlowTaskInput<Task extends FlowTask> = Parameters<FlowTasks[Task]>
export type FlowTaskResult<Task extends FlowTask> = ReturnType<FlowTasks[Task]>

/** Does a task for an organisation. */
export type FlowWork = <Task extends FlowTask>(
  organisation: OrganisationRef,
  task: Task,
  ...input: FlowTaskInput<Task>
) => Promise<FlowTaskResult<Task>>

/** Does a task in this thread. */
export function doFlowTask<Task extends FlowTask>(
  task: Task,
  input: FlowTaskInput<Task>,
): FlowTaskResult<Task> {
  const work = flowTasks[task] as (...input: FlowTaskInput<Task>) => FlowTaskResult<Task>
  return work(...input)
}

/** For commands and tests, where nobody else waits for this thread. */
export const flowWorkHere: FlowWork = async (_, task, ...input) => doFlowTask(task, input)
