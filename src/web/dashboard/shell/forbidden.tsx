import { LinkButton } from '../parts/button.tsx'
import { shellWords } from '../words/shell.ts'
import { addressOf } from './address.ts'
import type { PageRoute } from './routes.ts'
import { Notice } from './states.tsx'

const words = shellWords.states

/** In place of a page that who is signed in is not offered: why, and who can help. */
export function Forbidden({ needs }: Required<Pick<PageRoute, 'needs'>>) {
  const isOperators = needs === 'operator'
  return (
    <Notice
      icon="key"
      title={isOperators ? words.operators : words.forbidden}
      isAlert
      actions={<LinkButton href={addressOf()}>{words.home}</LinkButton>}
    >
      {isOperators ? (
        <>
          {words.operatorsWhy} <code>{words.operatorsCommand}</code>
        </>
      ) : (
        words.forbiddenWhy
      )}
    </Notice>
  )
}
