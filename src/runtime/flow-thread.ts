import '../test-clock.ts'
import { doFlowTask, type FlowTask, type FlowTaskInput } from '../core/flow/work.ts'

/** The thread that does what takes long about flows, one task after the other. */

declare const self: Worker

export interface FlowTaskStart {
  task: FlowTask
  input: FlowTaskInput<FlowTask>
}

self.onmessage = ({ data: { task, input } }: { data: FlowTaskStart }) =>
  self.postMessage(doFlowTask(task, input))
