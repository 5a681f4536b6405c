import { AppError } from '../../core/errors.ts'
import { type LinkProblem, maxStaging } from '../../storage/interfaces/environments.ts'

/** Why two organisations cannot be linked, in a sentence. */
const problems: Readonly<Record<LinkProblem, string>> = {
  itself: 'An organisation does not try flows for itself',
  linked: 'That organisation tries flows for one already: take that link away first',
  'is staging': 'The organisation to promote flows to already tries flows for another one',
  'has staging': 'That organisation has others that try flows for it',
  'too many': `At most ${maxStaging} organisations try flows for one`,
}

export const cannotLink = (problem: LinkProblem) => new AppError('cannot_link', problems[problem])
