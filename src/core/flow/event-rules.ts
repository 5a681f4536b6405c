import { eventNameFault, eventNameOddity } from '../event/event-name.ts'
import { error, type FlowProblem, warning } from './problem.ts'

/**
 * What is wrong with the name of an event that something waits for.
 *
 * @param inVain the problem where it can never come: its code, and what then never happens
 */
export function* eventProblems(
  name: string,
  path: string,
  inVain: { code: string; consequence: string },
): Iterable<FlowProblem> {
  const fault = eventNameFault(name)
  if (fault !== null) {
    yield error(inVain.code, path, `${inVain.consequence}: ${fault}`)
    return
  }
  const oddity = eventNameOddity(name)
  if (oddity !== null) yield warning('odd_event_name', path, oddity)
}
