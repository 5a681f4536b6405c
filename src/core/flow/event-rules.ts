import { eventKinds } from '../event/event.ts'
import { quoted } from '../text/wording.ts'
import { error, type FlowProblem } from './problem.ts'

/** Why no application sends a custom event with this name, as the end of a sentence, or null. */
function eventNameProblem(name: string): string | null {
  if (name.trim() === '')
    return 'the name of the event is blank; write the one that your application sends'
  if (!(eventKinds as readonly string[]).includes(name)) return null
  return `${quoted(name)} is a kind of Cairn's own events, and only custom ones count here; name one that your application sends`
}

/**
 * What is wrong with the name of an event that something waits for.
 *
 * @param inVain the problem if the event can never come: its code, and what then never happens
 */
export function* eventProblems(
  name: string,
  path: string,
  inVain: { code: string; consequence: string },
): Iterable<FlowProblem> {
  const problem = eventNameProblem(name)
  if (problem !== null) yield error(inVain.code, path, `${inVain.consequence}: ${problem}`)
}
